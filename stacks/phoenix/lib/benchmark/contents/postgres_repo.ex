defmodule Benchmark.Contents.PostgresRepo do
  use Ecto.Repo, otp_app: :benchmark, adapter: Ecto.Adapters.Postgres

  # Postgrex runs a query again if its connection is closed before an answer: a write may have been committed by then.
  @impl true
  def default_options(:all), do: []
  def default_options(_write), do: [checkout_retries: 0]
end
