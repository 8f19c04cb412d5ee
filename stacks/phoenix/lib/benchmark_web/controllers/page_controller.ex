defmodule BenchmarkWeb.PageController do
  use BenchmarkWeb, :controller

  plug :put_view, BenchmarkWeb.PageHTML

  def hi(conn, _params), do: conn |> put_format("html") |> render("hi.html", name: "Ben")
end
