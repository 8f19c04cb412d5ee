defmodule BenchmarkWeb.Params do
  @moduledoc "Reads a client's input. Returns `{:error, {status, message}}` if it is wrong."

  import Plug.Conn

  alias Benchmark.Contents.Ulid
  alias BenchmarkWeb.FallbackController

  @max_bytes 102_400

  @doc "An integer from 1 to `most`, without leading zeros."
  def integer(name, text, most) do
    with {number, ""} when number in 1..most//1 <- is_binary(text) && Integer.parse(text),
         ^text <- Integer.to_string(number) do
      {:ok, number}
    else
      _ -> {:error, {400, "#{name} must be an integer from 1 to #{most}, not #{shown(text)}"}}
    end
  end

  def ulid(name, text) do
    if is_binary(text) and text =~ Ulid.pattern(),
      do: {:ok, text},
      else: {:error, {400, "#{name} must be a ULID, not #{shown(text)}"}}
  end

  defp shown(text) when is_binary(text), do: text |> String.replace_invalid() |> Jason.encode!()
  defp shown(value), do: Jason.encode!(value)

  @doc """
  A plug that assigns the body, which must be a JSON object. Not Plug.Parsers, because it raises for any other body, and
  then Bandit closes the connection.
  """
  def read_json(conn, _options) do
    with [type] <- get_req_header(conn, "content-type"),
         {:ok, "application", "json", _} <- Plug.Conn.Utils.content_type(type),
         # one byte more than allowed, to know if the body is too large
         {:ok, body, conn} when byte_size(body) <= @max_bytes <- read_body(conn, length: @max_bytes + 1) do
      case Jason.decode(body) do
        {:ok, %{} = object} -> assign(conn, :json, object)
        {:ok, _} -> refuse(conn, 422, "the body must be object")
        {:error, _} -> refuse(conn, 400, "the body is not valid JSON")
      end
    else
      {_, _, conn} -> refuse(conn, 413, "the body is larger than #{@max_bytes} bytes")
      {:error, _} -> refuse(conn, 400, "the body is not complete")
      _ -> refuse(conn, 415, "the body must be of content-type application/json")
    end
  end

  defp refuse(conn, status, message), do: conn |> FallbackController.call({:error, {status, message}}) |> halt()
end
