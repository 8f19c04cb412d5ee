import Config

# An empty variable counts as not set.
text = fn name, default ->
  case System.get_env(name, "") do
    "" -> default
    value -> value
  end
end

refuse = fn name, reason ->
  IO.puts(:stderr, ~s(#{name} is "#{System.get_env(name)}":#{reason}))
  System.halt(1)
end

# The first choice is the default.
one_of = fn name, [first | _] = choices, where ->
  value = text.(name, first)
  if value in choices, do: value, else: refuse.(name, "#{where} set it to one of #{Enum.join(choices, " ")}")
end

integer = fn name, default, most ->
  case Integer.parse(text.(name, default)) do
    {value, ""} when value >= 1 and value <= most -> value
    _ -> refuse.(name, " set it to an integer from 1 to #{most}")
  end
end

if integer.("WORKERS", "1", 256) > 1, do: refuse.("WORKERS", " Elixir uses every core by threads: leave it out")
one_of.("SQLITE_DRIVER", ["exqlite"], " on elixir")
one_of.("POSTGRES_CLIENT", ["postgrex"], " on elixir")
one_of.("BUSY_WAIT", ["false", "true"], "")

host = to_charlist(text.("HOST", "0.0.0.0"))

ip =
  with {:error, _} <- :inet.getaddr(host, :inet),
       {:error, reason} <- :inet.getaddr(host, :inet6) do
    refuse.("HOST", " it has no address (#{reason})")
  else
    {:ok, ip} -> ip
  end

config :benchmark, BenchmarkWeb.Endpoint, http: [ip: ip, port: integer.("PORT", "3000", 65_535)]

config :benchmark, Benchmark.People.Repo,
  database: text.("DB_FILE", "data.db"),
  pool_size: System.schedulers_online()

stores = %{"sqlite" => Benchmark.Contents.SqliteRepo, "postgres" => Benchmark.Contents.PostgresRepo}
config :benchmark, store: stores[one_of.("STORE", ["sqlite", "postgres"], "")]

config :benchmark, Benchmark.Contents.SqliteRepo,
  database: text.("CONTENT_FILE", "content.db"),
  journal_mode: String.to_atom(one_of.("SQLITE_JOURNAL", ["wal", "delete"], "")),
  synchronous: String.to_atom(one_of.("SQLITE_SYNCHRONOUS", ["normal", "full", "off", "extra"], ""))

config :benchmark, Benchmark.Contents.PostgresRepo,
  url: text.("DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres"),
  pool_size: integer.("POSTGRES_POOL", "10", 1_000),
  prepare: if(one_of.("POSTGRES_PREPARE", ["true", "false"], "") == "true", do: :named, else: :unnamed)
