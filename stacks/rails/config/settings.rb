# frozen_string_literal: true

# What is set from outside, by environment variables. A mistake ends the program with one line.
module Settings
  # Ends the program where the value is not an integer from 1 to `most`.
  def self.integer(name, default, most)
    text = text(name, default)
    return text.to_i if text.match?(/\A\d+\z/) && text.to_i.between?(1, most)

    abort "#{name} is \"#{text}\": set it to an integer from 1 to #{most}"
  end

  def self.one_of(name, choices)
    value = text(name, choices.first)
    return value if choices.include?(value)

    abort "#{name} is \"#{value}\": on ruby set it to one of #{choices.join(' ')}"
  end

  # An empty variable is one that is not set.
  def self.text(name, default)
    value = ENV.fetch(name, "")
    value.empty? ? default.to_s : value
  end

  HOST = text("HOST", "0.0.0.0")
  PORT = integer("PORT", 3000, 65_535)
  WORKERS = integer("WORKERS", 1, 256)
  DRIVER = one_of("SQLITE_DRIVER", %w[sqlite3])
  # As it was given: relative to where the program was started.
  DB_FILE = text("DB_FILE", "data.db")
  abort "no database at \"#{DB_FILE}\": make it with: bun createdb.ts --file #{DB_FILE}" unless File.exist?(DB_FILE)

  # Of each process; Rails keeps as many connections to the database.
  THREADS = 5
end
