defmodule Benchmark.Contents.Ulid do
  @moduledoc "Ids in the format of github.com/ulid/spec: milliseconds, then 80 random bits."

  @alphabet "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

  def pattern, do: ~r/\A[0-7][0-9A-HJKMNP-TV-Z]{25}\z/

  def generate do
    bits = <<0::2, System.system_time(:millisecond)::48, :crypto.strong_rand_bytes(10)::binary>>
    for <<index::5 <- bits>>, into: "", do: <<:binary.at(@alphabet, index)>>
  end
end
