defmodule BenchmarkWeb.Endpoint do
  use Phoenix.Endpoint, otp_app: :benchmark

  # Plug adds this header, the other servers do not send it.
  plug :delete_resp_header, "cache-control"
  plug Plug.Head
  plug BenchmarkWeb.Router
end
