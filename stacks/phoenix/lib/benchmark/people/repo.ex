defmodule Benchmark.People.Repo do
  use Ecto.Repo, otp_app: :benchmark, adapter: Ecto.Adapters.SQLite3, read_only: true
end
