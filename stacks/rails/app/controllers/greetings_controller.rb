# frozen_string_literal: true

class GreetingsController < ApplicationController
  def show
    render json: { message: "Hello, world!" }
  end
end
