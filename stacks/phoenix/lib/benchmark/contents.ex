defmodule Benchmark.Contents do
  @moduledoc """
  Content items and users, in SQLite or Postgres. Calls that fail return `{:error, reason}`: a changeset, `:not_found`,
  `:full` or `:unavailable`.
  """

  import Ecto.Query

  alias Benchmark.Contents.{Content, PostgresRepo, User}
  alias Ecto.Changeset

  # Beginnings of SQLite's messages, and of SQLSTATEs: postgresql.org/docs/current/errcodes-appendix.html
  @failures [
    full: ["database or disk is full", "53100"],
    unavailable: ["database is locked", "Database busy", "disk I/O error", "08", "53", "57014", "57P0"]
  ]

  @doc "The repository that STORE names."
  def repo, do: Application.fetch_env!(:benchmark, :store)

  @doc "Creates missing tables. Returns `{:error, mistake}` if the database cannot be used."
  def migrate(tries \\ 2) do
    {:ok, _, _} = Ecto.Migrator.with_repo(repo(), &Ecto.Migrator.run(&1, :up, all: true))
    :ok
  rescue
    DBConnection.ConnectionError -> cannot_be_used(repo().config(), "no connection")
    # If several servers start at once on an empty database, one may fail because another creates the same table.
    error -> if tries > 1, do: migrate(tries - 1), else: cannot_be_used(repo().config(), Exception.message(error))
  end

  defp cannot_be_used(config, message) do
    reason = message |> String.split() |> Enum.join(" ")

    if repo() == PostgresRepo do
      address = "#{config[:hostname]}:#{config[:port]}/#{config[:database]}"
      {:error, "postgres://#{address} cannot be used (#{reason}): start Postgres, or fix DATABASE_URL"}
    else
      {:error, "CONTENT_FILE \"#{config[:database]}\" cannot be written (#{reason}): set it to a file that can"}
    end
  end

  def create(params), do: attempt(fn -> params |> Content.new() |> repo().insert() end)

  def read(id), do: attempt(fn -> found([repo().get(Content, id)]) end)

  @doc "Replaces all fields that a client can set, with one statement."
  def update(id, params) do
    with {:ok, content} <- params |> Content.changeset() |> Changeset.apply_action(:update) do
      changes = content |> Map.take(Content.fields()) |> Map.put(:updated_at, Content.now()) |> Map.to_list()
      replaced = from content in Content, where: content.id == ^id, select: content
      attempt(fn -> replaced |> repo().update_all(set: changes) |> elem(1) |> found() end)
    end
  end

  def delete(id) do
    attempt(fn ->
      {removed, _} = repo().delete_all(from content in Content, where: content.id == ^id)
      if removed == 0, do: {:error, :not_found}, else: :ok
    end)
  end

  @doc "The first items by id whose id is greater than `after_id`."
  def list(after_id, limit) do
    query = from content in Content, where: content.id > ^after_id, order_by: content.id, limit: ^limit
    attempt(fn -> {:ok, repo().all(query)} end)
  end

  @doc "The first users by id."
  def users(limit), do: attempt(fn -> {:ok, repo().all(from user in User, order_by: user.id, limit: ^limit)} end)

  def create_user(params), do: attempt(fn -> params |> User.changeset() |> repo().insert() end)

  defp found([%Content{} = content]), do: {:ok, content}
  defp found(_), do: {:error, :not_found}

  defp attempt(use) do
    use.()
  rescue
    DBConnection.ConnectionError ->
      {:error, :unavailable}

    error in [Exqlite.Error, Postgrex.Error] ->
      told = told(error)

      case Enum.find(@failures, fn {_, beginnings} -> String.starts_with?(told, beginnings) end) do
        {reason, _} -> {:error, reason}
        nil -> reraise error, __STACKTRACE__
      end
  end

  defp told(%Postgrex.Error{postgres: %{pg_code: code}}), do: code
  defp told(error), do: Exception.message(error)
end
