# frozen_string_literal: true

class ApplicationController < ActionController::API
  private

  # Rails would look for parameters in any body, but those that are read are JSON, and JsonBody reads them.
  def process_action(*)
    request.request_parameters = {}
    request.delete_header("CONTENT_TYPE")
    super
  end

  # A parameter that is to be an integer from 1 to `most`.
  def integer(name, most, default = nil)
    text = params.fetch(name, default)
    return text.to_i if text.match?(/\A[1-9]\d{0,2}\z/) && text.to_i <= most

    raise ActionController::BadRequest, "#{name} must be an integer from 1 to #{most}, not #{JSON.generate(text)}"
  end

  # `to_json` of Rails would escape U+2028, and what is JSON already.
  def render_json(value, status: :ok)
    render json: JSON.generate(value), status:
  end
end
