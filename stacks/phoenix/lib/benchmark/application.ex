defmodule Benchmark.Application do
  @moduledoc "Starts the repositories and the server, once the settings are found to be right."

  use Application

  alias Benchmark.{Contents, People, Settings, UsageError}

  # Long enough to read what had arrived when the server is told to stop: connections that seem idle are closed at once.
  @read_ms 500

  @impl true
  def start(_type, _args) do
    settings = Settings.read()
    address = claim(settings)
    people = People.look(settings.db_file)
    :persistent_term.put(Settings, settings)
    :persistent_term.put(People, people)

    # Drivers log each connection that they lose or cannot make; the request that needs it is told.
    Logger.put_application_level(:db_connection, :none)
    Logger.put_application_level(:postgrex, :none)

    {:ok, _} = System.trap_signal(:sigterm, fn -> Process.sleep(@read_ms) && System.stop() end)

    databases = [{People.Repo, People.options(settings)}, {DynamicSupervisor, name: Benchmark.Stores}]
    {:ok, supervisor} = Supervisor.start_link(databases, strategy: :one_for_one, name: Benchmark.Supervisor)
    if settings.store, do: Contents.open()
    {:ok, _} = Supervisor.start_child(supervisor, {BenchmarkWeb.Endpoint, endpoint(settings, address)})
    {:ok, supervisor}
  rescue
    error in UsageError ->
      IO.puts(:stderr, error.message)
      System.halt(1)
  end

  # Finds out whether the port can be had, as a listener that fails would be reported in many lines.
  defp claim(%{host: host, port: port}) do
    with {:ok, address} <- address(host),
         {:ok, socket} <- :gen_tcp.listen(port, ip: address, reuseaddr: true) do
      :gen_tcp.close(socket)
      address
    else
      {:error, :eaddrinuse} -> refuse(host, port, "is taken")
      {:error, reason} -> refuse(host, port, "cannot be listened on (#{reason})")
    end
  end

  defp address(host) do
    with {:error, _} <- :inet.getaddr(to_charlist(host), :inet), do: :inet.getaddr(to_charlist(host), :inet6)
  end

  defp refuse(host, port, reason) do
    raise UsageError, "#{host}:#{port} #{reason}: choose another with PORT or HOST"
  end

  # The limits of shared/limits.ts.
  defp endpoint(%{port: port}, address) do
    [
      http: [
        ip: address,
        port: port,
        http_options: [compress: false, log_protocol_errors: false],
        http_1_options: [max_request_line_length: 16_384, max_header_length: 16_384],
        http_2_options: [enabled: false],
        websocket_options: [enabled: false],
        thousand_island_options: [read_timeout: 10_000, shutdown_timeout: 4_000]
      ]
    ]
  end
end
