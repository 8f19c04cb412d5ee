defmodule BenchmarkWeb.Inputs do
  @moduledoc "Reads what a client says. What is wrong is `{:error, {status, message}}`."

  import Plug.Conn

  alias Benchmark.{EcmaJson, Ulid}

  # The limits of shared/limits.ts.
  @max_bytes 102_400
  @body_ms 10_000
  @not_json {400, "the body is not valid JSON"}

  # Without a charset that some would decode, and others take for UTF-8.
  @type_pattern ~r/\Aapplication\/json\s*(;\s*charset="?utf-8"?\s*)?\z/i

  @doc "An integer from 1 to `most`, without leading zeros."
  def integer(name, text, most) do
    with true <- text =~ ~r/\A[1-9]\d{0,2}\z/, number when number <= most <- String.to_integer(text) do
      {:ok, number}
    else
      _ -> {:error, {400, "#{name} must be an integer from 1 to #{most}, not #{quoted(text)}"}}
    end
  end

  def ulid(name, text) do
    if Ulid.valid?(text), do: {:ok, text}, else: {:error, {400, "#{name} must be a ULID, not #{quoted(text)}"}}
  end

  defp quoted(text), do: text |> String.replace_invalid() |> EcmaJson.encode() |> IO.iodata_to_binary()

  @doc "A value of the query, the first of its name; nothing in a query is nested or refused."
  def query(%{query_string: query}, name, default) do
    query
    |> String.split("&")
    |> Enum.map(&String.split(&1, "=", parts: 2))
    |> Enum.find_value(default, fn [key | value] ->
      if unescaped(key) == name, do: unescaped(List.first(value, ""))
    end)
  end

  # What is no escape stays as it is.
  defp unescaped(text) do
    bytes = String.replace(text, "+", " ")

    Regex.replace(~r/%([0-9a-f]{2})/i, bytes, fn _, hex -> <<String.to_integer(hex, 16)>> end)
    |> String.replace_invalid()
  end

  @doc "A plug that assigns the body, which has to be JSON. What follows needs the connection that has read it."
  def read_json(conn, _options) do
    with :ok <- check_type(conn), {{:ok, body}, conn} <- read(conn) do
      case EcmaJson.decode(body) do
        {:ok, value} -> assign(conn, :json, value)
        :error -> refuse(conn, @not_json)
      end
    else
      {:error, reason} -> refuse(conn, reason)
      {{:error, reason}, conn} -> refuse(conn, reason)
    end
  end

  defp refuse(conn, reason), do: conn |> BenchmarkWeb.FallbackController.call({:error, reason}) |> halt()

  defp check_type(conn) do
    type = conn |> get_req_header("content-type") |> List.first("")

    if type =~ @type_pattern and get_req_header(conn, "content-encoding") in [[], [""]] do
      :ok
    else
      {:error, {415, "the body must be of content-type application/json in UTF-8, not compressed"}}
    end
  end

  # One byte more tells whether it is too large.
  defp read(conn) do
    case read_body(conn, length: @max_bytes + 1, read_timeout: @body_ms) do
      {:ok, body, conn} when byte_size(body) <= @max_bytes -> {{:ok, body}, conn}
      {:error, _} -> {:error, @not_json}
      {_, _, conn} -> {{:error, {413, "the body is larger than #{@max_bytes} bytes"}}, conn}
    end
  end
end
