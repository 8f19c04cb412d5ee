# frozen_string_literal: true

# Answers what a controller or Rails itself raised, as ActionDispatch::PublicExceptions does by default with files.
# A client is told its own mistakes; the cause of a 500 is logged.
class JsonExceptions
  def call(env)
    status = env["PATH_INFO"].delete_prefix("/").to_i # ShowExceptions writes it there
    status = 404 if status == 405 # for an unknown method
    body = { error: message(status, env["action_dispatch.exception"]) }.to_json
    [status, { "Content-Type" => "application/json; charset=utf-8", "Content-Length" => body.bytesize.to_s }, [body]]
  end

  private

  def message(status, error)
    return "not found" if status == 404
    return error.message.scrub if status < 500

    Rails.logger.error(error.full_message(highlight: false))
    "internal error"
  end
end
