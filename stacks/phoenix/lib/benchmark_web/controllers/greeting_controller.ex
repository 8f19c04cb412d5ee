defmodule BenchmarkWeb.GreetingController do
  use BenchmarkWeb, :controller

  def show(conn, _params), do: json(conn, %{message: "Hello, world!"})
end
