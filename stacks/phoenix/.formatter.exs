[
  import_deps: [:ecto, :phoenix],
  inputs: ["mix.exs", "{config,lib}/**/*.ex", "config/*.exs"],
  line_length: 120
]
