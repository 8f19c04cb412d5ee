defmodule Benchmark.Contents.User do
  use Ecto.Schema

  schema "user" do
    field :name, :string
    field :email, :string
  end

  defimpl Jason.Encoder do
    def encode(%{id: id, name: name, email: email}, options) do
      Jason.Encode.keyword([id: id, name: name, email: email], options)
    end
  end
end
