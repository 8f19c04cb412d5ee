# frozen_string_literal: true

# Of controllers that use the store.
module Stored
  extend ActiveSupport::Concern

  included do
    around_action { |_controller, action| ContentRecord.lend(&action) }

    rescue_from(SQLite3::FullException) { raise Failure.new(507, "the store is full") }
    rescue_from(ActiveRecord::ConnectionTimeoutError, SQLite3::BusyException, SQLite3::IOException) { unavailable }
    rescue_from ContentRecord::Unusable do |error|
      logger.error(error.message)
      unavailable
    end
  end

  private

  def unavailable
    raise Failure.new(503, "the store cannot be reached")
  end
end
