defmodule Benchmark.People do
  @moduledoc "A read-only view of data.db. Its tables have ids without gaps."

  alias Benchmark.People.{Person30, Person5, Repo}
  alias Exqlite.Sqlite3

  @make "bun createdb.ts --file"

  @doc "Runs one query per row, each with a uniformly random id."
  def random_rows(schema, size) do
    %{^schema => first..last//1} = :persistent_term.get(__MODULE__)
    Repo.checkout(fn -> for _ <- 1..size, do: Repo.get!(schema, Enum.random(first..last)) end)
  end

  def sqlite_version, do: :persistent_term.get(__MODULE__).sqlite_version

  @doc "Reads ids and version of the file. Returns `{:error, mistake}` if createdb.ts did not write it."
  def look do
    file = Repo.config()[:database]

    with true <- File.exists?(file),
         {:ok, db} <- Sqlite3.open(file, mode: :readonly),
         {:ok, ids5} <- ids(db, "person5"),
         {:ok, ids30} <- ids(db, "person30"),
         {:ok, [[version]]} <- query(db, "SELECT sqlite_version()"),
         :ok <- Sqlite3.close(db) do
      :persistent_term.put(__MODULE__, %{Person5 => ids5, Person30 => ids30, sqlite_version: version})
    else
      false -> {:error, "no database at \"#{file}\": make it with: #{@make} #{file}"}
      {:error, reason} -> {:error, "\"#{file}\" cannot be used (#{reason}): make it again with: #{@make} #{file}"}
    end
  end

  defp ids(db, table) do
    case query(db, "SELECT min(id), max(id), count(*) FROM #{table}") do
      {:ok, [[first, last, count]]} when count > 0 and last - first + 1 == count -> {:ok, first..last//1}
      {:ok, _} -> {:error, "#{table} is empty or has gaps between its ids"}
      error -> error
    end
  end

  defp query(db, sql) do
    with {:ok, statement} <- Sqlite3.prepare(db, sql), do: Sqlite3.fetch_all(db, statement)
  end
end
