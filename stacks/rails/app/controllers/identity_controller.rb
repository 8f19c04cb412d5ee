# frozen_string_literal: true

class IdentityController < ApplicationController
  def show
    render json: Identity.to_h
  end
end
