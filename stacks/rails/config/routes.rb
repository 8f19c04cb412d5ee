# frozen_string_literal: true

Rails.application.routes.draw do
  # Rails would match paths with a slash too many as well.
  exact = ->(request) { !request.original_fullpath.match?(%r{\A[^?]*(//|[^/]/(\?|\z))}) }

  scope format: false, defaults: { format: :json }, constraints: exact do
    root "identity#show"
    get "plain", to: "greetings#show"
    get "html-template", to: "pages#hi", defaults: { format: :html }

    with_options constraints: { size: %r{[^/]+} } do
      get "sqlite/random-5fields/:size", to: "people#random5"
      get "sqlite/random-30fields/:size", to: "people#random30"
    end

    get "content", to: "contents#index"
    post "content", to: "contents#create"
    with_options constraints: { id: %r{[^/]+} } do
      get "content/:id", to: "contents#show"
      put "content/:id", to: "contents#update"
      delete "content/:id", to: "contents#destroy"
    end
    get "users", to: "users#index"
    post "users", to: "users#create"

    get "openapi.json", to: "docs#openapi"
    get "docs", to: "docs#show", defaults: { format: :html }
  end

  mount ->(_env) { raise ActionController::RoutingError, "not found" }, at: "/"
end
