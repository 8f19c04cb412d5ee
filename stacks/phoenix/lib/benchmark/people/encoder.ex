defimpl Jason.Encoder, for: [Benchmark.People.Person5, Benchmark.People.Person30] do
  # Columns in their order.
  def encode(%schema{} = person, options) do
    Jason.Encode.keyword(Enum.map(schema.__schema__(:fields), &{&1, Map.fetch!(person, &1)}), options)
  end
end
