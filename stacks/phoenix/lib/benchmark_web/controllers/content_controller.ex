defmodule BenchmarkWeb.ContentController do
  use BenchmarkWeb, :controller

  alias Benchmark.Contents

  plug :fetch_query_params when action == :index
  plug :read_json when action in [:create, :update]

  @max_limit 100
  @default_limit "20"

  def index(conn, _params) do
    query = conn.query_params

    with {:ok, limit} <- integer("limit", query["limit"] || @default_limit, @max_limit),
         {:ok, after_id} <- start(query["after"] || ""),
         # one more than the limit, to know if there is a next page
         {:ok, found} <- Contents.list(after_id, limit + 1) do
      items = Enum.take(found, limit)
      json(conn, %{items: items, next: if(length(found) > limit, do: List.last(items).id)})
    end
  end

  def show(conn, %{"id" => id}) do
    with {:ok, id} <- ulid("id", id), {:ok, content} <- Contents.read(id), do: json(conn, content)
  end

  def create(conn, _params) do
    with {:ok, content} <- Contents.create(conn.assigns.json), do: conn |> put_status(201) |> json(content)
  end

  def update(conn, %{"id" => id}) do
    with {:ok, id} <- ulid("id", id), {:ok, content} <- Contents.update(id, conn.assigns.json), do: json(conn, content)
  end

  def delete(conn, %{"id" => id}) do
    with {:ok, id} <- ulid("id", id), :ok <- Contents.delete(id), do: send_resp(conn, 204, "")
  end

  defp start(""), do: {:ok, ""}
  defp start(id), do: ulid("after", id)
end
