defmodule Benchmark.Ulid do
  @moduledoc "Ids as github.com/ulid/spec has them: milliseconds, then 80 random bits."

  @alphabet List.to_tuple(~c"0123456789ABCDEFGHJKMNPQRSTVWXYZ")

  def generate do
    bits = <<0::2, System.system_time(:millisecond)::48, :crypto.strong_rand_bytes(10)::binary>>
    for <<index::5 <- bits>>, into: "", do: <<elem(@alphabet, index)>>
  end

  def valid?(text), do: text =~ ~r/\A[0-7][0-9A-HJKMNP-TV-Z]{25}\z/
end
