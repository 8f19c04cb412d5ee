# frozen_string_literal: true

Rails.application.configure do
  config.cache_classes = true
  config.eager_load = true
  config.consider_all_requests_local = false
  config.public_file_server.enabled = false
  config.active_support.deprecation = :notify

  # Nothing is logged per request.
  config.log_level = :error
  config.logger = ActiveSupport::Logger.new($stderr)
end
