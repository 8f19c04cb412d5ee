defmodule Benchmark.Contents.User do
  use Ecto.Schema
  import Ecto.Changeset
  import Benchmark.Contents.Validations

  @derive {Jason.Encoder, except: [:__meta__]}
  schema "user" do
    field :name, :string
    field :email, :string
  end

  def changeset(params) do
    %__MODULE__{}
    |> cast_only(params, [:name, :email])
    |> validate_required([:name, :email], trim: false)
    |> validate_text(:name, 200)
    |> validate_text(:email, 200)
  end
end
