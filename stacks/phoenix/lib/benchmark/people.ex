defmodule Benchmark.People do
  @moduledoc "A read-only view of data.db, whose tables have ids without gaps."

  alias Benchmark.People.{Person30, Person5, Repo}
  alias Benchmark.UsageError
  alias Exqlite.Sqlite3

  @doc "Reads `size` rows, each by a query of its own, ids uniform over the rows that exist."
  def random_rows(schema, size) do
    %{^schema => first..last//1} = :persistent_term.get(__MODULE__).ids
    for _ <- 1..size, do: Repo.get!(schema, first + :rand.uniform(last - first + 1) - 1)
  end

  def sqlite_version, do: :persistent_term.get(__MODULE__).sqlite_version

  @doc "What is learnt of a file before it is used. Raises UsageError where it is not what createdb.ts writes."
  def look(file) do
    if not File.exists?(file) do
      raise UsageError, "no database at \"#{file}\": make it with: bun createdb.ts --file #{file}"
    end

    with {:ok, db} <- Sqlite3.open(file, mode: :readonly),
         {:ok, ids5} <- ids(db, "person5"),
         {:ok, ids30} <- ids(db, "person30"),
         {:ok, [version]} <- row(db, "SELECT sqlite_version()") do
      :ok = Sqlite3.close(db)
      %{ids: %{Person5 => ids5, Person30 => ids30}, sqlite_version: version}
    else
      {:error, reason} ->
        raise UsageError, "\"#{file}\" cannot be used (#{reason}): make it again with: bun createdb.ts --file #{file}"
    end
  end

  @doc "A connection for each core; queries wait for one as long as it takes."
  def options(%{db_file: file}) do
    [
      database: file,
      mode: :readonly,
      pool_size: System.schedulers_online(),
      queue_target: 60_000,
      queue_interval: 60_000,
      journal_mode: nil,
      cache_size: -16_000,
      custom_pragmas: [mmap_size: 0, query_only: 1],
      log: false
    ]
  end

  defp ids(db, table) do
    case row(db, "SELECT min(id), max(id), count(*) FROM #{table}") do
      {:ok, [first, last, count]} when count > 0 and last - first + 1 == count -> {:ok, first..last//1}
      {:ok, _} -> {:error, "#{table} is empty or has gaps between its ids"}
      error -> error
    end
  end

  defp row(db, sql) do
    with {:ok, statement} <- Sqlite3.prepare(db, sql) do
      result = Sqlite3.step(db, statement)
      Sqlite3.release(db, statement)
      with {:row, row} <- result, do: {:ok, row}
    end
  end
end
