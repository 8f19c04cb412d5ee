# frozen_string_literal: true

# Adds the date that RFC 9110 asks of a server; neither Puma nor Rails sends one.
class DateHeader
  def initialize(app)
    @app = app
  end

  def call(env)
    status, headers, body = @app.call(env)
    headers["Date"] = Time.now.httpdate
    [status, headers, body]
  end
end
