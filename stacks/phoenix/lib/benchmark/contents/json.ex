defmodule Benchmark.Contents.Json do
  @moduledoc "Any JSON, stored as text. Parameterized, because Ecto asks no other type how to store nil, which is null."

  use Ecto.ParameterizedType

  @impl true
  def init(_options), do: nil
  @impl true
  def type(_), do: :string
  @impl true
  def cast(value, _), do: {:ok, value}
  @impl true
  def dump(value, _, _), do: Jason.encode(value)
  @impl true
  def load(text, _, _), do: Jason.decode(text)
end
