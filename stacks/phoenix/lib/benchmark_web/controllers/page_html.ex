defmodule BenchmarkWeb.PageHTML do
  import Phoenix.Template

  embed_templates "page_html/*"
end
