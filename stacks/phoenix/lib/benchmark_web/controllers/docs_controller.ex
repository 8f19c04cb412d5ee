defmodule BenchmarkWeb.DocsController do
  @moduledoc "What openapi.ts has made."
  use BenchmarkWeb, :controller

  @external_resource "build/openapi.json"
  @external_resource "build/docs.html"
  @openapi File.read!("build/openapi.json")
  @page File.read!("build/docs.html")

  def openapi(conn, _params), do: conn |> put_resp_content_type("application/json") |> send_resp(200, @openapi)
  def show(conn, _params), do: html(conn, @page)
end
