# frozen_string_literal: true

class HomeController < ApplicationController
  def identity
    render json: Identity.to_h
  end

  def plain
    render json: { message: "Hello, world!" }
  end
end
