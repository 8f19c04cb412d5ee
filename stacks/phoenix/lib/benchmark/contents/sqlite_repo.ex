defmodule Benchmark.Contents.SqliteRepo do
  use Ecto.Repo, otp_app: :benchmark, adapter: Ecto.Adapters.SQLite3
end
