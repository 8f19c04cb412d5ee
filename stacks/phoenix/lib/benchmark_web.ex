defmodule BenchmarkWeb do
  @moduledoc "The imports of all controllers: `use BenchmarkWeb, :controller`."

  def controller do
    quote do
      use Phoenix.Controller, formats: []
      import Plug.Conn
      import BenchmarkWeb.Params
      action_fallback BenchmarkWeb.FallbackController
    end
  end

  defmacro __using__(which), do: apply(__MODULE__, which, [])
end
