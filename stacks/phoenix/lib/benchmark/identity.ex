defmodule Benchmark.Identity do
  @moduledoc "The answer to GET /: versions and settings of this server, its CPU time and its memory."

  alias Benchmark.{Contents, People}

  @page_bytes 4096

  def now do
    {cpu_ms, _} = :erlang.statistics(:runtime)
    {uptime_ms, _} = :erlang.statistics(:wall_clock)
    [_, pages | _] = "/proc/self/statm" |> File.read!() |> String.split()

    %{
      server: "elixir-phoenix",
      runtime: %{name: "elixir", version: "#{System.version()} on OTP #{System.otp_release()}"},
      framework: %{name: "phoenix", version: "#{version(:phoenix)} on bandit #{version(:bandit)}"},
      driver: %{name: "exqlite", sqlite: People.sqlite_version()},
      store: store(Contents.repo()),
      workers: 1,
      pid: String.to_integer(System.pid()),
      uptimeSeconds: uptime_ms / 1000,
      cpuUs: cpu_ms * 1000,
      rssBytes: String.to_integer(pages) * @page_bytes
    }
  end

  defp store(Contents.PostgresRepo = repo) do
    config = repo.config()
    prepare = config[:prepare] == :named
    %{name: "postgres", driver: "postgrex #{version(:postgrex)}", pool: config[:pool_size], prepare: prepare}
  end

  defp store(Contents.SqliteRepo = repo) do
    config = repo.config()
    driver = "exqlite #{People.sqlite_version()}"
    synchronous = config[:synchronous]
    %{name: "sqlite", driver: driver, file: config[:database], journal: config[:journal_mode], synchronous: synchronous}
  end

  defp version(application), do: application |> Application.spec(:vsn) |> to_string()
end
