defmodule Benchmark.Contents.Body do
  @moduledoc """
  Checks what a client says in JSON as shared/content/schema.ts does, in the words of ajv. Its first mistake is told.
  """

  alias Benchmark.EcmaJson

  @type check :: (term -> String.t() | nil)

  @doc "Returns `{:ok, values}`, a map by names, with those of `defaults` that are not said."
  @spec read(term, [{String.t(), check}], map) :: {:ok, map} | {:error, {422, String.t()}}
  def read({:object, members}, checks, defaults) do
    said = Map.new(members)
    mistake = missing(said, checks, defaults) || more(members, checks) || wrong(said, checks)
    if mistake, do: {:error, {422, mistake}}, else: {:ok, Map.merge(defaults, said)}
  end

  def read(_, _, _), do: {:error, {422, "the body must be object"}}

  @doc "A text of 1 to `most` characters that every store can keep."
  def text(most), do: &text(&1, most)

  defp text(value, _) when not is_binary(value), do: "must be string"

  defp text(value, most) do
    text = EcmaJson.replace_halves(value)

    cond do
      characters(text) > most -> "must NOT have more than #{most} characters"
      text == "" -> "must NOT have fewer than 1 characters"
      String.contains?(text, "\0") -> ~S(must match pattern "^[^\u0000\ud800-\udfff]*$")
      true -> nil
    end
  end

  defp characters(text), do: for(<<_::utf8 <- text>>, reduce: 0, do: (count -> count + 1))

  defp missing(said, checks, defaults) do
    Enum.find_value(checks, fn {name, _} ->
      if not is_map_key(said, name) and not is_map_key(defaults, name),
        do: "the body must have required property '#{name}'"
    end)
  end

  defp more(members, checks) do
    names = Enum.map(checks, &elem(&1, 0))

    Enum.find_value(members, fn {key, _} ->
      if key not in names, do: "the body must NOT have additional properties #{key}"
    end)
  end

  defp wrong(said, checks) do
    Enum.find_value(checks, fn {name, check} ->
      with %{^name => value} <- said, mistake when is_binary(mistake) <- check.(value) do
        "#{name} #{mistake}"
      else
        _ -> nil
      end
    end)
  end
end
