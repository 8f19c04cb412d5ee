import Config

# Logs only errors, on stderr.
config :logger, level: :error
config :logger, :default_handler, config: [type: :standard_error]

config :phoenix, json_library: Jason, logger: false

config :benchmark, BenchmarkWeb.Endpoint,
  adapter: Bandit.PhoenixAdapter,
  http: [
    http_options: [compress: false, log_protocol_errors: false],
    thousand_island_options: [shutdown_timeout: 4_000]
  ],
  render_errors: [formats: [json: BenchmarkWeb.ErrorJSON], layout: false],
  server: true

alias Benchmark.{Contents, People}

# A request may wait for a connection; by default DBConnection answers with an error after 50 ms in the queue.
for repo <- [Contents.SqliteRepo, Contents.PostgresRepo] do
  config :benchmark, repo, queue_target: 2_000, queue_interval: 2_000, log: false, priv: "priv/repo"
end

config :benchmark, People.Repo,
  queue_target: 60_000,
  queue_interval: 60_000,
  log: false,
  mode: :readonly,
  journal_mode: nil,
  cache_size: -16_000,
  custom_pragmas: [mmap_size: 0, query_only: 1]

# One connection, because more would wait for each other's locks.
config :benchmark, Contents.SqliteRepo,
  pool_size: 1,
  busy_timeout: 5_000,
  cache_size: -16_000,
  custom_pragmas: [mmap_size: 0]

config :benchmark, Contents.PostgresRepo, parameters: [statement_timeout: "5000"]
