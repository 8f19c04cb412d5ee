defmodule BenchmarkWeb.ErrorJSON do
  @moduledoc "Phoenix renders this if no route matches a request, or a handler fails."

  def render("404.json", _assigns), do: %{error: "not found"}
  def render("500.json", _assigns), do: %{error: "internal error"}
  def render(_template, %{reason: reason}), do: %{error: String.replace_invalid(Exception.message(reason))}
end
