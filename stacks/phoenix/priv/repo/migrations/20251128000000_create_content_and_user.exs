defmodule Benchmark.Repo.Migrations.CreateContentAndUser do
  use Ecto.Migration

  # "if not exists", because createdb.ts creates the tables if a run fills the database.
  def change do
    create_if_not_exists table(:content, primary_key: false, options: options()) do
      add :id, :text, primary_key: true
      for name <- [:title, :body, :author, :status, :data, :created_at, :updated_at], do: add(name, :text, null: false)
    end

    create_if_not_exists table(:user, options: options()) do
      add :name, :text, null: false
      add :email, :text, null: false
    end
  end

  defp options, do: if(repo().__adapter__() == Ecto.Adapters.SQLite3, do: "STRICT")
end
