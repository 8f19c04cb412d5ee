defmodule BenchmarkWeb.IdentityController do
  use BenchmarkWeb, :controller

  def show(conn, _params), do: json(conn, Benchmark.Identity.now())
end
