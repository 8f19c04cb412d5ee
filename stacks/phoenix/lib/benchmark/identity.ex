defmodule Benchmark.Identity do
  @moduledoc "The answer to GET /: what this server is and what it has used."

  alias Benchmark.{People, Settings}

  @page_bytes 4096

  def now do
    settings = :persistent_term.get(Settings)
    {cpu_ms, _} = :erlang.statistics(:runtime)
    {uptime_ms, _} = :erlang.statistics(:wall_clock)
    [_, pages | _] = "/proc/self/statm" |> File.read!() |> String.split()

    %{
      server: "elixir-phoenix",
      runtime: %{name: "elixir", version: "#{System.version()} on OTP #{System.otp_release()}"},
      framework: %{name: "phoenix", version: "#{version(:phoenix)} on bandit #{version(:bandit)}"},
      driver: %{name: settings.driver, sqlite: People.sqlite_version()},
      store: store(settings),
      workers: 1,
      pid: String.to_integer(System.pid()),
      uptimeSeconds: uptime_ms / 1000,
      cpuUs: cpu_ms * 1000,
      rssBytes: String.to_integer(pages) * @page_bytes
    }
  end

  defp store(%{store: "postgres", postgres: postgres}) do
    %{
      name: "postgres",
      driver: "#{postgres.client} #{version(:postgrex)}",
      pool: postgres.pool,
      prepare: postgres.prepare
    }
  end

  defp store(%{driver: driver, sqlite: sqlite}) do
    Map.merge(%{name: "sqlite", driver: "#{driver} #{People.sqlite_version()}"}, sqlite)
  end

  defp version(application), do: application |> Application.spec(:vsn) |> to_string()
end
