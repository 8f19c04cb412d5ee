defmodule BenchmarkWeb.PeopleController do
  use BenchmarkWeb, :controller

  alias Benchmark.People
  alias Benchmark.People.{Person30, Person5}

  @max_size 500

  def random5(conn, params), do: random_rows(conn, Person5, params)
  def random30(conn, params), do: random_rows(conn, Person30, params)

  defp random_rows(conn, schema, %{"size" => size}) do
    with {:ok, size} <- integer("size", size, @max_size), do: json(conn, People.random_rows(schema, size))
  end
end
