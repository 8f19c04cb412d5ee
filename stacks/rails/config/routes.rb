Rails.application.routes.draw do
  scope format: false, defaults: { format: :json } do
    root "home#identity"
    get "plain", to: "home#plain"
    get "html-template", to: "pages#hi", defaults: { format: :html }

    with_options constraints: { size: %r{[^/]+} } do
      get "sqlite/random-5fields/:size", to: "people#random5"
      get "sqlite/random-30fields/:size", to: "people#random30"
    end

    resources :contents, path: "content", only: %i[index show create update destroy], constraints: { id: %r{[^/]+} }
    resources :users, only: %i[index create]
  end

  mount ->(_env) { raise ActionController::RoutingError, "not found" }, at: "/"
end
