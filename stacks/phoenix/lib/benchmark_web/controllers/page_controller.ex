defmodule BenchmarkWeb.PageController do
  use BenchmarkWeb, :controller

  plug :put_view, BenchmarkWeb.PageHTML

  def identity(conn, _params), do: json(conn, Benchmark.Identity.now())

  def plain(conn, _params), do: json(conn, %{message: "Hello, world!"})

  def hi(conn, _params), do: conn |> put_format("html") |> render("hi.html", name: "Ben")
end
