defmodule Benchmark.Contents.Validations do
  @moduledoc "Checks of a client's JSON that the other servers make and Ecto does not make by itself."

  import Ecto.Changeset

  @doc "Casts these fields, also an empty text; any other field is an error."
  def cast_only(schema, params, fields) do
    changeset = cast(schema, params, fields, empty_values: [])

    case Map.keys(params) -- Enum.map(fields, &Atom.to_string/1) do
      [] -> changeset
      [name | _] -> add_error(changeset, :body, "must not have a property #{inspect(name)}")
    end
  end

  @doc "Allows a text of 1 to `most` characters without U+0000, because Postgres cannot store it."
  def validate_text(changeset, field, most) do
    changeset
    |> validate_length(field, min: 1, max: most, count: :codepoints)
    |> validate_format(field, ~r/\A[^\0]*\z/, message: "must not contain U+0000")
  end
end
