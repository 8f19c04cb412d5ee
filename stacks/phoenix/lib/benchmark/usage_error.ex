defmodule Benchmark.UsageError do
  @moduledoc "A mistake of whoever starts the server: one line that names the value and the remedy."
  defexception [:message]
end
