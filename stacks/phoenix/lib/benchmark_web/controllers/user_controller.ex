defmodule BenchmarkWeb.UserController do
  use BenchmarkWeb, :controller

  alias Benchmark.Contents

  plug :read_json when action == :create

  @max_users 100

  def index(conn, _params) do
    with {:ok, users} <- Contents.users(@max_users), do: json(conn, users)
  end

  def create(conn, _params) do
    with {:ok, user} <- Contents.create_user(conn.assigns.json), do: conn |> put_status(201) |> json(user)
  end
end
