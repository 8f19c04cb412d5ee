# frozen_string_literal: true

require_relative "boot"
require_relative "settings"

require "rails"
require "active_record/railtie"
require "action_controller/railtie"
require "action_view/railtie"
Bundler.require(*Rails.groups)

require_relative "../lib/date_header"
require_relative "../lib/ecma_json"
require_relative "../lib/failure"
require_relative "../lib/flat_query_parser"
require_relative "../lib/json_exceptions"
require_relative "../lib/ulid"

module HttpBenchmark
  # What does not depend on the environment; the rest is in environments/production.rb.
  class Application < Rails::Application
    config.load_defaults 6.1
    config.api_only = true

    # Only content-length, content-type and date are sent.
    config.action_dispatch.default_headers = {}
    config.middleware.delete Rack::Runtime
    config.middleware.delete ActionDispatch::RequestId
    config.middleware.delete Rack::ConditionalGet
    config.middleware.swap Rack::ETag, Rack::ContentLength
    config.middleware.insert_before 0, DateHeader

    # JsonExceptions logs what is the server's fault; DebugExceptions would log each 404.
    config.middleware.delete ActionDispatch::DebugExceptions
    config.exceptions_app = JsonExceptions.new

    # The tables are person5, person30, content and user.
    config.active_record.pluralize_table_names = false
    config.active_support.escape_html_entities_in_json = false

    # Rails asks for one. It signs nothing: there are neither cookies nor sessions.
    config.secret_key_base = SecureRandom.hex(64)

    config.after_initialize { Person.check }
  end
end
