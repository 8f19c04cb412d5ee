defmodule Benchmark.Contents.Draft do
  @moduledoc "What a client says of a content item."

  alias Benchmark.Contents.Body
  alias Benchmark.{EcmaJson, Ulid}

  @statuses ["draft", "published", "archived"]
  @max_depth 64

  @doc "What replaces an item."
  def read(json), do: with({:ok, values} <- Body.read(json, checks(), defaults()), do: {:ok, stored(values)})

  @doc "A new item, whose id is made where none is given."
  def read_new(json) do
    checks = [{"id", &ulid/1} | checks()]
    with {:ok, values} <- Body.read(json, checks, Map.put(defaults(), "id", Ulid.generate())), do: {:ok, stored(values)}
  end

  defp checks do
    [
      {"title", Body.text(200)},
      {"body", Body.text(50_000)},
      {"author", Body.text(200)},
      {"status", &if(&1 not in @statuses, do: "must be equal to one of the allowed values")},
      {"data", &if(not EcmaJson.shallow?(&1, @max_depth), do: "must not be nested more than #{@max_depth} deep")}
    ]
  end

  defp defaults, do: %{"status" => "draft", "data" => nil}

  defp ulid(value) when not is_binary(value), do: "must be string"
  defp ulid(value), do: if(not Ulid.valid?(value), do: ~S(must match pattern "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"))

  defp stored(values) do
    for {name, value} <- values, into: %{} do
      {String.to_existing_atom(name), if(name == "data", do: IO.iodata_to_binary(EcmaJson.encode(value)), else: value)}
    end
  end
end
