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

  # Reads as many rows as the path asks for, with one query per row even if a row is drawn twice.
  def rows_of(model)
    size = integer(:size, MAX_SIZE)
    model.uncached { Array.new(size) { model.random } }
  end
end
