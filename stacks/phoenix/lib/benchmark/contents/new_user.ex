defmodule Benchmark.Contents.NewUser do
  @moduledoc "What a client says of a user."

  alias Benchmark.Contents.Body

  def read(json) do
    checks = [{"name", Body.text(200)}, {"email", Body.text(200)}]

    with {:ok, %{"name" => name, "email" => email}} <- Body.read(json, checks, %{}),
         do: {:ok, %{name: name, email: email}}
  end
end
