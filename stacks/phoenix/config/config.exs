import Config

# Nothing is logged but what breaks, on stderr.
config :logger, level: :error
config :logger, :default_handler, config: [type: :standard_error]

config :phoenix, json_library: Jason

config :benchmark, BenchmarkWeb.Endpoint,
  adapter: Bandit.PhoenixAdapter,
  render_errors: [formats: [json: BenchmarkWeb.ErrorJSON], layout: false],
  server: true

# Rows are read and kept by repositories that Benchmark.Application starts with what Benchmark.Settings reads.
config :benchmark, ecto_repos: []
