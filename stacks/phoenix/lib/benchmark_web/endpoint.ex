defmodule BenchmarkWeb.Endpoint do
  use Phoenix.Endpoint, otp_app: :benchmark

  # Plug sends one, the other servers do not.
  plug :delete_resp_header, "cache-control"
  plug Plug.Head
  plug BenchmarkWeb.Router
end
