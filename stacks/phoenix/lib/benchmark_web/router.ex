defmodule BenchmarkWeb.Router do
  use Phoenix.Router, helpers: false

  scope "/", BenchmarkWeb do
    get "/", IdentityController, :show
    get "/plain", GreetingController, :show
    get "/html-template", PageController, :hi
    get "/sqlite/random-5fields/:size", PeopleController, :random5
    get "/sqlite/random-30fields/:size", PeopleController, :random30

    get "/content", ContentController, :index
    post "/content", ContentController, :create
    get "/content/:id", ContentController, :show
    put "/content/:id", ContentController, :update
    delete "/content/:id", ContentController, :delete
    get "/users", UserController, :index
    post "/users", UserController, :create

    get "/openapi.json", DocsController, :openapi
    get "/docs", DocsController, :show

    # Bandit closes the connection where no route is found, without a word to the client.
    match :*, "/*path", FallbackController, :not_found
  end
end
