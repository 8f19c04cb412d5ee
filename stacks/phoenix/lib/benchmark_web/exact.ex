defmodule BenchmarkWeb.Exact do
  @moduledoc """
  Phoenix would match paths with a slash too many as well, and Plug adds a cache-control that the other servers do not send.
  """
  @behaviour Plug

  @impl true
  def init(options), do: options

  @impl true
  def call(%{request_path: path} = conn, _options) do
    conn = Plug.Conn.delete_resp_header(conn, "cache-control")

    if path != "/" and (String.ends_with?(path, "/") or String.contains?(path, "//")) do
      conn |> BenchmarkWeb.FallbackController.call({:error, :not_found}) |> Plug.Conn.halt()
    else
      conn
    end
  end
end
