defmodule Benchmark.Contents.Content do
  @moduledoc "A content item; data is JSON, times are texts as in the other servers."

  use Ecto.Schema

  @primary_key {:id, :string, autogenerate: false}
  schema "content" do
    field :title, :string
    field :body, :string
    field :author, :string
    field :status, :string
    field :data, :string
    field :created_at, :string
    field :updated_at, :string
  end

  @doc "As it is answered, for EcmaJson."
  def to_json(content) do
    {:object, Enum.map(__schema__(:fields), &{Atom.to_string(&1), value(&1, Map.fetch!(content, &1))})}
  end

  defp value(:data, json), do: {:json, json}
  defp value(_, text), do: text
end
