defmodule Benchmark.Settings do
  @moduledoc "What is set from outside, by environment variables."

  alias Benchmark.UsageError

  @where " on elixir"

  defstruct [:host, :port, :db_file, :driver, :store, :sqlite, :postgres]

  @doc "Reads the environment. Raises UsageError, which names the variable, its value and what it may be."
  def read(env \\ System.get_env()) do
    if text(env, "WORKERS", "1") != "1" do
      workers = integer(env, "WORKERS", 1, 256)

      if workers > 1 do
        raise UsageError, "WORKERS is \"#{workers}\": Elixir uses every core by threads: leave it out"
      end
    end

    %__MODULE__{
      host: text(env, "HOST", "0.0.0.0"),
      port: integer(env, "PORT", 3000, 65_535),
      db_file: text(env, "DB_FILE", "data.db"),
      driver: one_of(env, "SQLITE_DRIVER", ["exqlite"], @where),
      # nil is sqlite, opened when it is first used
      store: if(text(env, "STORE", "") != "", do: one_of(env, "STORE", ["sqlite", "postgres"])),
      sqlite: %{
        file: text(env, "CONTENT_FILE", "content.db"),
        journal: one_of(env, "SQLITE_JOURNAL", ["wal", "delete"]),
        synchronous: one_of(env, "SQLITE_SYNCHRONOUS", ["normal", "full", "off", "extra"])
      },
      postgres: %{
        client: one_of(env, "POSTGRES_CLIENT", ["postgrex"], @where),
        url: text(env, "DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres"),
        pool: integer(env, "POSTGRES_POOL", 10, 1000),
        prepare: one_of(env, "POSTGRES_PREPARE", ["true", "false"]) == "true"
      }
    }
  end

  # An empty variable is one that is not set.
  defp text(env, name, default) do
    case Map.get(env, name, "") do
      "" -> default
      value -> value
    end
  end

  # The first of the choices where none is set.
  defp one_of(env, name, [first | _] = choices, where \\ "") do
    value = text(env, name, first)

    if value not in choices do
      raise UsageError, "#{name} is \"#{value}\":#{where} set it to one of #{Enum.join(choices, " ")}"
    end

    value
  end

  defp integer(env, name, default, most) do
    text = text(env, name, Integer.to_string(default))
    value = if text =~ ~r/\A\d{1,9}\z/, do: String.to_integer(text), else: 0

    if value in 1..most//1,
      do: value,
      else: raise(UsageError, "#{name} is \"#{text}\": set it to an integer from 1 to #{most}")
  end
end
