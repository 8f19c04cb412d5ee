defmodule Benchmark.MixProject do
  use Mix.Project

  def project do
    [
      app: :benchmark,
      version: "1.0.0",
      elixir: "~> 1.18",
      deps: deps(),
      deps_path: "build/deps",
      build_path: "build/mix",
      releases: [benchmark: [path: "build/release"]]
    ]
  end

  def application do
    [mod: {Benchmark.Application, []}, extra_applications: [:logger]]
  end

  defp deps do
    [
      {:bandit, "== 1.12.5"},
      {:ecto, "== 3.14.2"},
      {:ecto_sql, "== 3.14.0"},
      {:ecto_sqlite3, "== 0.24.1"},
      {:exqlite, "== 0.39.0"},
      {:jason, "== 1.4.5"},
      {:phoenix, "== 1.8.12"},
      {:phoenix_html, "== 4.3.0"},
      {:plug, "== 1.20.3"},
      {:postgrex, "== 0.22.4"}
    ]
  end
end
