defmodule Benchmark.Contents.Content do
  @moduledoc "A content item. Times are stored as text, as in the other servers."

  use Ecto.Schema
  import Ecto.Changeset
  import Benchmark.Contents.Validations
  alias Benchmark.Contents.{Json, Ulid}

  @fields [:title, :body, :author, :status, :data]

  @derive {Jason.Encoder, except: [:__meta__]}
  @primary_key {:id, :string, autogenerate: false}
  schema "content" do
    field :title, :string
    field :body, :string
    field :author, :string
    field :status, Ecto.Enum, values: [:draft, :published, :archived], default: :draft
    field :data, Json
    timestamps inserted_at: :created_at, type: :string, autogenerate: {__MODULE__, :now, []}
  end

  @doc "The fields that a client can set."
  def fields, do: @fields

  def now, do: DateTime.utc_now() |> DateTime.truncate(:millisecond) |> DateTime.to_iso8601()

  @doc "A new item; gets a new id if `params` has none."
  def new(params) do
    params
    |> Map.put_new_lazy("id", &Ulid.generate/0)
    |> changeset([:id | @fields])
    |> validate_format(:id, Ulid.pattern())
    |> unique_constraint(:id, name: :content_pkey, message: "is taken")
    |> unique_constraint(:id, name: :content_id_index, message: "is taken")
  end

  def changeset(params, fields \\ @fields) do
    %__MODULE__{}
    |> cast_only(params, fields)
    # because Ecto leaves nil out of an INSERT unless it is a change
    |> force_change(:data, params["data"])
    |> validate_required(fields -- [:data], trim: false)
    |> validate_text(:title, 200)
    |> validate_text(:body, 50_000)
    |> validate_text(:author, 200)
  end
end
