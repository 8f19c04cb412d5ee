require_relative "boot"
require_relative "settings"

require "rails"
require "active_record/railtie"
require "action_controller/railtie"
require "action_view/railtie"
Bundler.require(*Rails.groups)

require_relative "../lib/json_exceptions"

module HttpBenchmark
  # There is one environment, production.
  class Application < Rails::Application
    config.load_defaults 6.1
    config.api_only = true
    config.cache_classes = true
    config.eager_load = true
    config.public_file_server.enabled = false
    config.active_support.deprecation = :notify

    # Logs nothing per request.
    config.log_level = :error
    config.logger = ActiveSupport::Logger.new($stderr)

    # Sends only content-length and content-type.
    config.action_dispatch.default_headers = {}
    config.middleware.delete Rack::Runtime
    config.middleware.delete ActionDispatch::RequestId
    config.middleware.delete Rack::ConditionalGet
    config.middleware.swap Rack::ETag, Rack::ContentLength

    # JsonExceptions logs errors of the server; DebugExceptions would log each 404.
    config.middleware.delete ActionDispatch::DebugExceptions
    config.exceptions_app = JsonExceptions.new
    config.action_dispatch.rescue_responses.merge!(
      "ActionController::UnpermittedParameters" => :unprocessable_entity,
      "ActiveRecord::RecordNotUnique" => :conflict
    )

    # Refuses a body with unknown fields, and does not change the arrays in a body.
    config.action_controller.action_on_unpermitted_parameters = :raise
    config.action_dispatch.perform_deep_munge = false

    # The tables are person5, person30, content and user.
    config.active_record.pluralize_table_names = false

    # Rails requires a key. It signs nothing, because there are neither cookies nor sessions.
    config.secret_key_base = SecureRandom.hex(64)

    config.after_initialize { Person.check }
  end
end
