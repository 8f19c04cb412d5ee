defmodule Benchmark.Contents.Json do
  @moduledoc "Any JSON, kept as text. It is parameterized because Ecto does not ask another type about nil, whose text is null."

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
