defmodule Benchmark.Application do
  @moduledoc "Starts the repositories and the server, once what they need is found to be right."

  use Application

  alias Benchmark.{Contents, People}

  # A connection that seems idle is closed at once when the server stops, so it first reads what has arrived.
  @read_ms 500

  @impl true
  def start(_type, _args) do
    # These log each connection that they lose or cannot make; the request that needs it is told.
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

  # System.stop would unload each module, which takes seconds.
  defp stop do
    Process.sleep(@read_ms)
    Application.stop(:benchmark)
    System.halt(0)
  end

  # Bandit would report in many lines that it cannot listen.
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
