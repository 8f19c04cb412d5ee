defmodule BenchmarkWeb.Endpoint do
  use Phoenix.Endpoint, otp_app: :benchmark

  import Plug.Conn

  plug :as_other_servers
  plug Plug.Head
  plug BenchmarkWeb.Router

  # Plug adds cache-control, and Phoenix takes /plain/ for /plain.
  defp as_other_servers(%{request_path: path} = conn, _options) do
    conn = delete_resp_header(conn, "cache-control")

    if path != "/" and String.ends_with?(path, "/"),
      do: conn |> BenchmarkWeb.FallbackController.call(:not_found) |> halt(),
      else: conn
  end
end
