defmodule Benchmark.Contents.Validations do
  @moduledoc "What the other servers ask of a client's JSON, and Ecto does not by itself."

  import Ecto.Changeset

  @doc "Casts these fields, the empty text too; any other is a mistake."
  def cast_only(schema, params, fields) do
    changeset = cast(schema, params, fields, empty_values: [])

    case Map.keys(params) -- Enum.map(fields, &Atom.to_string/1) do
      [] -> changeset
      [name | _] -> add_error(changeset, :body, "must not have a property #{inspect(name)}")
    end
  end

  @doc "A text of 1 to `most` characters that every store can keep: Postgres has no U+0000."
  def validate_text(changeset, field, most) do
    changeset
    |> validate_length(field, min: 1, max: most, count: :codepoints)
    |> validate_format(field, ~r/\A[^\0]*\z/, message: "must not contain U+0000")
  end
end
