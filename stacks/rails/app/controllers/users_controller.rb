# frozen_string_literal: true

class UsersController < ApplicationController
  include JsonBody
  include Stored

  MAX_USERS = 100

  def index
    render_json User.order(:id).limit(MAX_USERS).map(&:attributes)
  end

  def create
    render_json User.create!(NewUser.read(json).attributes).attributes, status: :created
  end
end
