# frozen_string_literal: true

# The same routes in one file, as Rails has them in its templates for bug reports: what `./bench.sh tax` compares the
# server with.

require_relative "../config/boot"

ENV["RAILS_ENV"] = "production"
ENV["DATABASE_URL"] = "sqlite3:#{File.expand_path(ENV.fetch('DB_FILE', 'data.db'))}?readonly=true&pool=5"

require "active_record/railtie"
require "action_controller/railtie"
require "action_view/railtie"
require "rack/handler/puma"
require "time"

class Application < Rails::Application
  config.root = __dir__
  config.paths["app/views"] = File.expand_path("../app/views", __dir__)
  config.load_defaults 6.1
  config.api_only = true
  config.cache_classes = true
  config.eager_load = true
  config.logger = ActiveSupport::Logger.new($stderr, level: :error)
  config.log_level = :error
  config.secret_key_base = SecureRandom.hex(64)

  # The headers of all servers: content-length, content-type and date.
  config.action_dispatch.default_headers = {}
  config.middleware.delete Rack::Runtime
  config.middleware.delete ActionDispatch::RequestId
  config.middleware.delete Rack::ConditionalGet
  config.middleware.swap Rack::ETag, Rack::ContentLength

  routes.append do
    scope format: false, defaults: { format: :json } do
      root "people#identity"
      get "plain", to: "people#plain"
      get "html-template", to: "pages#hi", defaults: { format: :html }
      get "sqlite/random-5fields/:size", to: "people#random5"
      get "sqlite/random-30fields/:size", to: "people#random30"
      resources :content, only: %i[index create show update destroy], controller: "contents"
    end
  end
end

class Person5 < ActiveRecord::Base
  self.table_name = "person5"
end

class Person30 < ActiveRecord::Base
  self.table_name = "person30"
end

# In a file that has the table already.
class Content < ActiveRecord::Base
  self.table_name = "content"
  self.primary_key = "id"
  serialize :data, JSON

  if ENV["CONTENT_FILE"]
    establish_connection(adapter: "sqlite3", database: ENV["CONTENT_FILE"], pool: 1, timeout: 5000)
  end
end

class ContentsController < ActionController::API
  before_action { response.date = Time.now }

  def index
    limit = params.fetch(:limit, 20).to_i
    items = Content.where("id > ?", params[:after].to_s).order(:id).limit(limit + 1).to_a
    render json: { items: items.first(limit), next: items.size > limit ? items[limit - 1].id : nil }
  end

  def create
    now = Time.now.utc.iso8601(3)
    render status: :created, json: Content.create!(draft.merge(id: SecureRandom.hex(13), created_at: now, updated_at: now))
  end

  def show
    render json: Content.find(params[:id])
  end

  def update
    content = Content.find(params[:id])
    content.update!(draft.merge(updated_at: Time.now.utc.iso8601(3)))
    render json: content
  end

  def destroy
    Content.find(params[:id]).destroy!
    head :no_content
  end

  private

  def draft
    params.permit(:title, :body, :author, :status, data: {})
  end
end

class PeopleController < ActionController::API
  before_action { response.date = Time.now }

  def identity
    render json: { message: "rails" }
  end

  def plain
    render json: { message: "Hello, world!" }
  end

  def random5
    render json: rows_of(Person5)
  end

  def random30
    render json: rows_of(Person30)
  end

  private

  def rows_of(model)
    model.uncached { Array.new(params[:size].to_i) { model.find(rand(1..100_000)) } }
  end
end

class PagesController < ActionController::Base
  before_action { response.date = Time.now }

  def hi
    @name = "Ben"
  end
end

# Rails has no setting for pragmas before 7.1.
ActiveSupport.on_load(:active_record_sqlite3adapter) do
  prepend(Module.new do
    def configure_connection
      super
      execute "PRAGMA cache_size = -16000"
      return if @config[:readonly]

      execute "PRAGMA journal_mode = wal"
      execute "PRAGMA synchronous = normal"
    end
  end)
end

Application.initialize!
Rack::Handler::Puma.run(Application, Host: "127.0.0.1", Port: ENV.fetch("PORT"), Threads: "5:5", Silent: true)
