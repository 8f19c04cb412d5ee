# frozen_string_literal: true

class ApplicationController < ActionController::API
  private

  # A parameter that must be an integer from 1 to `most`.
  def integer(name, most, default = nil)
    text = params.fetch(name, default).to_s
    return text.to_i if text.match?(/\A[1-9]\d{0,2}\z/) && text.to_i <= most

    raise ActionController::BadRequest, "#{name} must be an integer from 1 to #{most}, not #{text.inspect}"
  end
end
