defmodule BenchmarkWeb.ContentController do
  use BenchmarkWeb, :controller

  alias Benchmark.{Contents, EcmaJson}
  alias Benchmark.Contents.{Content, Draft}

  plug :read_json when action in [:create, :update]

  @max_limit 100
  @default_limit "20"

  def index(conn, _params) do
    with {:ok, limit} <- integer("limit", query(conn, "limit", @default_limit), @max_limit),
         {:ok, after_id} <- start(query(conn, "after", "")),
         {:ok, found} <- Contents.list(after_id, limit + 1) do
      items = Enum.take(found, limit)
      next = if length(found) > limit, do: List.last(items).id
      send_json(conn, 200, {:object, [{"items", Enum.map(items, &Content.to_json/1)}, {"next", next}]})
    end
  end

  def show(conn, %{"id" => id}) do
    with {:ok, id} <- ulid("id", id), {:ok, content} <- Contents.read(id), do: send_content(conn, 200, content)
  end

  def create(conn, _params) do
    with {:ok, draft} <- Draft.read_new(conn.assigns.json),
         {:ok, content} <- Contents.create(draft) do
      send_content(conn, 201, content)
    end
  end

  def update(conn, %{"id" => id}) do
    with {:ok, id} <- ulid("id", id),
         {:ok, draft} <- Draft.read(conn.assigns.json),
         {:ok, content} <- Contents.update(id, draft) do
      send_content(conn, 200, content)
    end
  end

  def delete(conn, %{"id" => id}) do
    with {:ok, id} <- ulid("id", id), :ok <- Contents.remove(id), do: send_resp(conn, 204, "")
  end

  defp start(""), do: {:ok, ""}
  defp start(id), do: ulid("after", id)

  defp send_content(conn, status, content), do: send_json(conn, status, Content.to_json(content))

  defp send_json(conn, status, value) do
    conn |> put_resp_content_type("application/json") |> send_resp(status, EcmaJson.encode(value))
  end
end
