# frozen_string_literal: true

class PeopleController < ApplicationController
  MAX_SIZE = 500

  def random5
    render json: rows_of(Person5)
  end

  def random30
    render json: rows_of(Person30)
  end

  private

  # As many rows as the path asks for, each by a query of its own.
  def rows_of(model)
    Array.new(size) { model.random }
  end

  def size
    text = params[:size]
    return text.to_i if text.match?(/\A[1-9]\d{0,2}\z/) && text.to_i <= MAX_SIZE

    raise ActionController::BadRequest,
          "size must be an integer from 1 to #{MAX_SIZE}, not #{JSON.generate(text)}"
  end
end
