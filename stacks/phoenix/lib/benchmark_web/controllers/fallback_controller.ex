defmodule BenchmarkWeb.FallbackController do
  @moduledoc "Answers if an action returns an error."
  use Phoenix.Controller, formats: []
  import Plug.Conn

  @doc "Actions call it as their fallback, the router for any other path."
  def call(conn, :not_found), do: refuse(conn, 404, "not found")
  def call(conn, {:error, :not_found}), do: refuse(conn, 404, "not found")
  def call(conn, {:error, :full}), do: refuse(conn, 507, "the store is full")
  def call(conn, {:error, {status, message}}), do: refuse(conn, status, message)

  def call(conn, {:error, :unavailable}) do
    conn |> put_resp_header("retry-after", "1") |> refuse(503, "the store cannot be reached")
  end

  def call(conn, {:error, %Ecto.Changeset{errors: [{field, {text, options}} | _]}}) do
    status = if options[:constraint], do: 409, else: 422
    refuse(conn, status, "#{field} #{String.replace(text, "%{count}", "#{options[:count]}")}")
  end

  defp refuse(conn, status, message), do: conn |> put_status(status) |> json(%{error: message})
end
