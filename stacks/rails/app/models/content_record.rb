# frozen_string_literal: true

# A row of what the content API keeps, in a database of its own.
class ContentRecord < ApplicationRecord
  self.abstract_class = true

  connects_to database: { writing: :content }

  class Unusable < StandardError; end

  # Each is applied once, as shared/stores/migrations.ts has them.
  MIGRATIONS = [
    <<~SQL,
      CREATE TABLE content (
        id TEXT PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, author TEXT NOT NULL, status TEXT NOT NULL,
        data TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
      ) STRICT
    SQL
    "CREATE TABLE user (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, email TEXT NOT NULL) STRICT"
  ].freeze

  class << self
    # Lends this thread the connection, for the block only: others wait for it.
    def lend
      open_store
      yield
    ensure
      connection_pool.release_connection
    end

    # Ends the program with one line where the store cannot be used.
    def check
      lend { nil }
    rescue Unusable => e
      abort e.message
    end

    private

    def open_store
      connection
      @migrated ||= migrate(connection.raw_connection)
    rescue ActiveRecord::ConnectionTimeoutError
      raise
    rescue ActiveRecord::ActiveRecordError, SQLite3::Exception, SystemCallError => e
      file = Settings::CONTENT_FILE
      raise Unusable, "CONTENT_FILE \"#{file}\" cannot be written (#{e.message}): set it to a file that can"
    end

    def migrate(database)
      return true if database.user_version == MIGRATIONS.size

      database.transaction(:immediate) do
        MIGRATIONS.drop(database.user_version).each { |statement| database.execute(statement) }
        database.user_version = MIGRATIONS.size
      end
      true
    end
  end
end
