defmodule Benchmark.Contents.Sqlite do
  use Ecto.Repo, otp_app: :benchmark, adapter: Ecto.Adapters.SQLite3
end

defmodule Benchmark.Contents.Postgres do
  use Ecto.Repo, otp_app: :benchmark, adapter: Ecto.Adapters.Postgres
end
