# frozen_string_literal: true

# A row of the content API, which has its own database.
class ContentRecord < ApplicationRecord
  self.abstract_class = true

  connects_to database: { writing: :content }

  # The tables of shared/stores/migrations.ts, and how many migrations these are.
  SCHEMA = <<~SQL
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS content (
      id TEXT PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, author TEXT NOT NULL, status TEXT NOT NULL,
      data TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS user (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, email TEXT NOT NULL) STRICT;
    PRAGMA user_version = 2;
    COMMIT;
  SQL

  class << self
    # Lends this thread the connection only for the block, because other threads wait for it.
    def lend
      connection_pool.with_connection do |connection|
        connection.raw_connection.execute_batch(SCHEMA) unless @prepared
        @prepared = true
        yield
      end
    end

    # Ends the program with one line if the store cannot be used.
    def check
      lend { nil }
    rescue ActiveRecord::ActiveRecordError, SQLite3::Exception, SystemCallError => e
      abort "CONTENT_FILE \"#{Settings::CONTENT_FILE}\" cannot be written (#{e.message}): set it to a file that can"
    end
  end
end
