defmodule BenchmarkWeb.Endpoint do
  use Phoenix.Endpoint, otp_app: :benchmark

  plug BenchmarkWeb.Exact
  plug Plug.Head
  plug BenchmarkWeb.Router
end
