defmodule BenchmarkWeb.Router do
  use Phoenix.Router, helpers: false

  scope "/", BenchmarkWeb do
    get "/", PageController, :identity
    get "/plain", PageController, :plain
    get "/html-template", PageController, :hi
    get "/sqlite/random-5fields/:size", PeopleController, :random5
    get "/sqlite/random-30fields/:size", PeopleController, :random30

    resources "/content", ContentController, only: [:index, :create, :show, :delete]
    put "/content/:id", ContentController, :update
    resources "/users", UserController, only: [:index, :create]

    # Matches everything else, because Bandit closes the connection after an answer without a route.
    match :*, "/*path", FallbackController, :not_found
  end
end
