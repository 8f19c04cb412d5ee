defmodule Benchmark.Contents do
  @moduledoc """
  Content items and users, in SQLite or Postgres. Calls return `{:error, reason}` where they cannot be done: `:not_found`,
  `:full`, `:unavailable`, or a status with a message.
  """

  import Ecto.Query

  alias Benchmark.Contents.{Content, Migrations, Postgres, Sqlite, User}
  alias Benchmark.{Settings, UsageError}

  # How long a request waits for a connection, a connection for a server, and a statement for its end.
  @connect_ms 2_000
  @statement_ms 5_000

  @doc "Opens the store, unless that is done. Raises UsageError where it cannot be used."
  def open do
    settings = :persistent_term.get(Settings)
    {repo, options} = repo(settings)

    :global.trans({__MODULE__, self()}, fn ->
      case DynamicSupervisor.start_child(Benchmark.Stores, {repo, options}) do
        {:ok, _} -> migrate(repo, settings)
        {:error, {:already_started, _}} -> :ok
        {:error, reason} -> refuse(settings, inspect(reason))
      end
    end)

    :persistent_term.put(__MODULE__, repo)
    repo
  end

  def create(draft) do
    now = now()
    content = struct!(Content, Map.merge(draft, %{created_at: now, updated_at: now}))
    attempt(fn repo -> repo.insert(content) end, draft.id)
  end

  def read(id), do: attempt(fn repo -> found(repo.get(Content, id)) end)

  def update(id, draft) do
    changes = draft |> Map.put(:updated_at, now()) |> Map.to_list()
    changed = from(content in Content, where: content.id == ^id, select: content)
    attempt(fn repo -> repo.update_all(changed, set: changes) |> elem(1) |> List.first() |> found() end)
  end

  def remove(id) do
    attempt(fn repo ->
      case repo.delete_all(from content in Content, where: content.id == ^id) do
        {0, _} -> {:error, :not_found}
        _ -> :ok
      end
    end)
  end

  @doc "The first items by id whose id is greater than `after_id`."
  def list(after_id, limit) do
    attempt(fn repo ->
      {:ok, repo.all(from content in Content, where: content.id > ^after_id, order_by: content.id, limit: ^limit)}
    end)
  end

  @doc "The first users by id."
  def users(limit), do: attempt(fn repo -> {:ok, repo.all(from user in User, order_by: user.id, limit: ^limit)} end)

  def add_user(new), do: attempt(fn repo -> repo.insert(struct!(User, new)) end)

  defp found(nil), do: {:error, :not_found}
  defp found(content), do: {:ok, content}

  defp now, do: DateTime.utc_now() |> DateTime.truncate(:millisecond) |> DateTime.to_iso8601()

  defp attempt(use, id \\ nil) do
    use.(:persistent_term.get(__MODULE__, nil) || open())
  rescue
    error in UsageError ->
      IO.puts(:stderr, error.message)
      {:error, :unavailable}

    error in Ecto.ConstraintError ->
      conflict(id, error, __STACKTRACE__)

    error in Postgrex.Error ->
      failed(error.postgres[:pg_code], error, __STACKTRACE__)

    error in Exqlite.Error ->
      failed(error.message, error, __STACKTRACE__)

    _ in DBConnection.ConnectionError ->
      {:error, :unavailable}
  end

  defp conflict(nil, error, stacktrace), do: reraise(error, stacktrace)
  defp conflict(id, _, _), do: {:error, {409, "there is a content #{id} already"}}

  # By SQLSTATE (postgresql.org/docs/current/errcodes-appendix.html), or by the words of SQLite.
  defp failed("53100", _, _), do: {:error, :full}
  defp failed("57014", _, _), do: {:error, :unavailable}
  defp failed("08" <> _, _, _), do: {:error, :unavailable}
  defp failed("53" <> _, _, _), do: {:error, :unavailable}
  defp failed("57P0" <> _, _, _), do: {:error, :unavailable}
  defp failed("database or disk is full" <> _, _, _), do: {:error, :full}
  defp failed("disk I/O error" <> _, _, _), do: {:error, :unavailable}
  defp failed("database is locked" <> _, _, _), do: {:error, :unavailable}
  defp failed("Database busy" <> _, _, _), do: {:error, :unavailable}
  defp failed(_, error, stacktrace), do: reraise(error, stacktrace)

  defp repo(%{store: "postgres", postgres: postgres}) do
    {Postgres,
     [
       url: postgres.url,
       pool_size: postgres.pool,
       prepare: if(postgres.prepare, do: :named, else: :unnamed),
       parameters: [statement_timeout: "#{@statement_ms}"],
       connect_timeout: @connect_ms,
       queue_target: @connect_ms,
       queue_interval: @connect_ms,
       log: false
     ]}
  end

  # One connection, as more would wait for each other's locks.
  defp repo(%{sqlite: sqlite}) do
    {Sqlite,
     [
       database: if(sqlite.file == ":memory:", do: :memory, else: sqlite.file),
       pool_size: 1,
       queue_target: @connect_ms,
       queue_interval: @connect_ms,
       busy_timeout: @statement_ms,
       journal_mode: String.to_existing_atom(sqlite.journal),
       synchronous: String.to_existing_atom(sqlite.synchronous),
       cache_size: -16_000,
       custom_pragmas: [mmap_size: 0],
       log: false
     ]}
  end

  defp migrate(repo, settings) do
    Migrations.run(repo)
  rescue
    error -> stop_and_refuse(repo, settings, Exception.message(error))
  end

  defp stop_and_refuse(repo, settings, reason) do
    DynamicSupervisor.terminate_child(Benchmark.Stores, Process.whereis(repo))
    refuse(settings, reason |> String.split() |> Enum.join(" "))
  end

  defp refuse(%{store: "postgres", postgres: %{url: url}}, reason) do
    raise UsageError,
          "#{String.replace(url, ~r"//.*@", "//")} cannot be used (#{reason}): start Postgres, or fix DATABASE_URL"
  end

  defp refuse(%{sqlite: %{file: file}}, reason) do
    raise UsageError, "CONTENT_FILE \"#{file}\" cannot be written (#{reason}): set it to a file that can"
  end
end
