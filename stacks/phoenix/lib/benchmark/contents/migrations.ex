defmodule Benchmark.Contents.Migrations do
  @moduledoc "Makes the tables. Each statement is applied once, as shared/stores/migrations.ts has them."

  alias Benchmark.Contents.{Postgres, Sqlite}

  # Number of the advisory lock under which one process at a time migrates, that of the other servers.
  @lock 7_307

  @sqlite [
    """
    CREATE TABLE content (
      id TEXT PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, author TEXT NOT NULL, status TEXT NOT NULL,
      data TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
    ) STRICT
    """,
    "CREATE TABLE user (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, email TEXT NOT NULL) STRICT"
  ]

  @postgres [
    """
    CREATE TABLE content (
      id TEXT COLLATE "C" PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, author TEXT NOT NULL,
      status TEXT NOT NULL, data TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
    )
    """,
    ~s[CREATE TABLE "user" (id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL)]
  ]

  def run(Sqlite) do
    Sqlite.transaction(
      fn ->
        %{rows: [[applied]]} = Sqlite.query!("PRAGMA user_version")
        for statement <- Enum.drop(@sqlite, applied), do: Sqlite.query!(statement)
        Sqlite.query!("PRAGMA user_version = #{length(@sqlite)}")
      end,
      mode: :immediate
    )
  end

  def run(Postgres) do
    Postgres.transaction(fn ->
      Postgres.query!("SELECT pg_advisory_xact_lock(#{@lock})")
      Postgres.query!("CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY)")
      %{rows: [[applied]]} = Postgres.query!("SELECT count(*) FROM migration")

      for {statement, number} <- @postgres |> Enum.with_index() |> Enum.drop(applied) do
        Postgres.query!(statement)
        Postgres.query!("INSERT INTO migration VALUES ($1)", [number])
      end
    end)
  end
end
