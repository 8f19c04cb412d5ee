# frozen_string_literal: true

# A row of data.db, whose tables have ids without gaps.
class Person < ApplicationRecord
  self.abstract_class = true

  class << self
    # Reads one row by a uniformly random id.
    def random
      id = rand(id_range)
      find_by(id:) || raise("#{table_name} has lost its row #{id}")
    end

    # Ends the program with one line if the database is not what createdb.ts writes.
    def check
      [Person5, Person30].each(&:id_range)
    rescue ActiveRecord::ActiveRecordError, SQLite3::Exception, RuntimeError => e
      file = Settings::DB_FILE
      abort "\"#{file}\" cannot be used (#{e.message}): make it again with: bun createdb.ts --file #{file}"
    end

    # From the first to the last id; queried once.
    def id_range
      @id_range ||= begin
        first, last, rows = pick(Arel.sql("min(id)"), Arel.sql("max(id)"), Arel.sql("count(*)"))
        raise "#{table_name} is empty or has gaps between its ids" if rows.zero? || last - first + 1 != rows

        first..last
      end
    end
  end
end
