# frozen_string_literal: true

# Answers what a controller or Rails itself raised, as ActionDispatch::PublicExceptions does by default with files.
# Client errors keep their message; anything else is a 500 that tells nothing, and its cause is logged.
class JsonExceptions
  def call(env)
    error = env["action_dispatch.exception"]
    status = ActionDispatch::ExceptionWrapper.status_code_for_exception(error.class.name)
    status = 404 if status == 405 # a method that Rails does not know
    body = { error: message(status, error) }.to_json
    headers = { "Content-Type" => "application/json; charset=utf-8", "Content-Length" => body.bytesize.to_s }
    [status, headers, [body]]
  end

  private

  def message(status, error)
    return "not found" if status == 404
    return error.message if status < 500

    Rails.logger.error(error.full_message(highlight: false))
    "internal error"
  end
end
