defmodule BenchmarkWeb.ErrorJSON do
  @moduledoc "What Phoenix renders when a request could not be routed, or a handler failed."

  def render("404.json", _assigns), do: %{error: "not found"}
  def render("500.json", _assigns), do: %{error: "internal error"}
  def render(_template, %{reason: reason}), do: %{error: String.replace_invalid(Exception.message(reason))}
end
