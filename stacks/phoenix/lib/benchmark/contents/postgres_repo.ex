defmodule Benchmark.Contents.PostgresRepo do
  use Ecto.Repo, otp_app: :benchmark, adapter: Ecto.Adapters.Postgres

  # Does not repeat writes: if a connection closes before the answer, Postgres may have committed the write already.
  @impl true
  def default_options(:all), do: []
  def default_options(_write), do: [checkout_retries: 0]
end
