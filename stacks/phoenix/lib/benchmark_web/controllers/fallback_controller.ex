defmodule BenchmarkWeb.FallbackController do
  @moduledoc "Answers what an action did not do."
  use Phoenix.Controller, formats: []
  import Plug.Conn

  alias Benchmark.EcmaJson

  @doc "Called by an action's fallback, or by the router for any other path."
  def call(conn, :not_found), do: call(conn, {:error, :not_found})
  def call(conn, {:error, :not_found}), do: call(conn, {:error, {404, "not found"}})
  def call(conn, {:error, :full}), do: call(conn, {:error, {507, "the store is full"}})

  def call(conn, {:error, :unavailable}) do
    conn |> put_resp_header("retry-after", "1") |> call({:error, {503, "the store cannot be reached"}})
  end

  def call(conn, {:error, {status, message}}) do
    conn
    |> put_resp_content_type("application/json")
    |> send_resp(status, EcmaJson.encode(%{"error" => message}))
  end
end
