require_relative "config/environment"

ContentRecord.check if Settings::STORE

run Rails.application
Rails.application.load_server
