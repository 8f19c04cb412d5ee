# frozen_string_literal: true

# Answers errors that a controller or Rails raises; by default ActionDispatch::PublicExceptions does this with files.
# The client gets the message of a 4xx; the cause of a 500 goes only to the log.
class JsonExceptions
  def call(env)
    status = env["PATH_INFO"].delete_prefix("/").to_i # ShowExceptions writes the status there
    status = 404 if status == 405 # Rails answers 405 to an unknown method
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
