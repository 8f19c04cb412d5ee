defmodule Benchmark.People.Person5 do
  use Ecto.Schema

  @derive {Jason.Encoder, except: [:__meta__]}
  schema "person5" do
    field :first_name, :string
    field :last_name, :string
    field :email, :string
    field :phone, :string
    field :created_at, :string
  end
end
