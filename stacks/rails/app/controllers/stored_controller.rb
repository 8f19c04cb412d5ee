# frozen_string_literal: true

# The base of controllers that use the store.
class StoredController < ApplicationController
  MAX_BYTES = 102_400

  around_action { |_controller, action| ContentRecord.lend { action.call } }
  before_action :check_body, only: %i[create update]

  rescue_from(SQLite3::FullException) { refuse :insufficient_storage, "the store is full" }
  rescue_from ActiveRecord::ConnectionTimeoutError, SQLite3::BusyException, SQLite3::IOException do
    response.set_header "Retry-After", "1"
    refuse :service_unavailable, "the store cannot be reached"
  end

  private

  def check_body
    if request.media_type != "application/json"
      refuse :unsupported_media_type, "the body must be application/json"
    elsif request.content_length > MAX_BYTES
      refuse :payload_too_large, "the body is larger than #{MAX_BYTES} bytes"
    elsif request.content_length.zero?
      refuse :bad_request, "the body is empty"
    end
  end

  def refuse(status, message)
    render json: { error: message }, status:
  end

  # The fields of the body; each must be one of `names`.
  def permit(*names)
    ActionController::Parameters.new(request.request_parameters).permit(*names)
  end
end
