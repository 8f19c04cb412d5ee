defmodule Benchmark.Application do
  @moduledoc "Checks the port and the databases, then starts the repositories and the server."

  use Application

  alias Benchmark.{Contents, People}

  # The server first reads the requests that have arrived, because a stop closes connections that seem idle at once.
  @read_ms 500

  @impl true
  def start(_type, _args) do
    # Off, because these log each connection that is lost or cannot be made; the request that needs it gets the error.
    for application <- [:db_connection, :ecto_sql, :postgrex], do: Logger.put_application_level(application, :none)

    with :ok <- check_port(Application.fetch_env!(:benchmark, BenchmarkWeb.Endpoint)[:http]),
         :ok <- People.look(),
         :ok <- Contents.migrate() do
      {:ok, _} = System.trap_signal(:sigterm, &stop/0)
      children = [People.Repo, Contents.repo(), BenchmarkWeb.Endpoint]
      Supervisor.start_link(children, strategy: :one_for_one, name: Benchmark.Supervisor)
    else
      {:error, mistake} ->
        IO.puts(:stderr, mistake)
        System.halt(1)
    end
  end

  # Not System.stop, because it unloads each module, which takes seconds.
  defp stop do
    Process.sleep(@read_ms)
    Application.stop(:benchmark)
    System.halt(0)
  end

  # Checks first, because Bandit prints many lines if it cannot listen.
  defp check_port(http) do
    case :gen_tcp.listen(http[:port], ip: http[:ip], reuseaddr: true) do
      {:ok, socket} -> :gen_tcp.close(socket)
      {:error, :eaddrinuse} -> refuse(http, "is taken")
      {:error, reason} -> refuse(http, "cannot be listened on (#{reason})")
    end
  end

  defp refuse(http, reason) do
    {:error, "#{:inet.ntoa(http[:ip])}:#{http[:port]} #{reason}: choose another with PORT or HOST"}
  end
end
