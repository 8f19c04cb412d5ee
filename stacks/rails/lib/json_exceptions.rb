# frozen_string_literal: true

# Answers what a controller or Rails itself raised, as ActionDispatch::PublicExceptions does by default with files.
# Client errors keep their message; anything else is a 500 that tells nothing, and its cause is logged.
class JsonExceptions
  def call(env)
    error = env["action_dispatch.exception"]
    status = status_of(error)
    body = JSON.generate(error: message(status, error).scrub)
    headers = { "Content-Type" => "application/json; charset=utf-8", "Content-Length" => body.bytesize.to_s }
    headers["Retry-After"] = "1" if status == 503
    [status, headers, [body]]
  end

  private

  def status_of(error)
    return error.status if error.is_a?(Failure)

    status = ActionDispatch::ExceptionWrapper.status_code_for_exception(error.class.name)
    status == 405 ? 404 : status # a method that Rails does not know
  end

  def message(status, error)
    return "not found" if status == 404
    return error.message if status < 500 || error.is_a?(Failure)

    Rails.logger.error(error.full_message(highlight: false))
    "internal error"
  end
end
