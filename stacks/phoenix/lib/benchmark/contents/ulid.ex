defmodule Benchmark.Contents.Ulid do
  @moduledoc "Ids as github.com/ulid/spec has them: milliseconds, then 80 random bits."

  use Ecto.Type

  @alphabet "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

  def generate do
    bits = <<0::2, System.system_time(:millisecond)::48, :crypto.strong_rand_bytes(10)::binary>>
    for <<index::5 <- bits>>, into: "", do: <<:binary.at(@alphabet, index)>>
  end

  @impl true
  def type, do: :string

  @impl true
  def cast(text) when is_binary(text), do: if(text =~ ~r/\A[0-7][0-9A-HJKMNP-TV-Z]{25}\z/, do: {:ok, text}, else: :error)
  def cast(_), do: :error

  @impl true
  def dump(text), do: {:ok, text}
  @impl true
  def load(text), do: {:ok, text}
end
