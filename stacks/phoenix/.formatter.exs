[
  import_deps: [:ecto, :ecto_sql, :phoenix],
  inputs: ["mix.exs", "{config,lib,priv}/**/*.{ex,exs}"],
  line_length: 120
]
