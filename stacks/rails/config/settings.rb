# frozen_string_literal: true

# What is set from outside, by environment variables. A mistake ends the program with one line.
module Settings
  # Ends the program where the value is not an integer from 1 to `most`.
  def self.integer(name, default, most)
    text = text(name, default)
    return text.to_i if text.match?(/\A\d+\z/) && text.to_i.between?(1, most)

    abort "#{name} is \"#{text}\": set it to an integer from 1 to #{most}"
  end

  # The first of the choices where none is set; `where` says for what they are all.
  def self.one_of(name, choices, where = "")
    value = text(name, choices.first)
    return value if choices.include?(value)

    abort "#{name} is \"#{value}\":#{where} set it to one of #{choices.join(' ')}"
  end

  # An empty variable is one that is not set.
  def self.text(name, default)
    value = ENV.fetch(name, "")
    value.empty? ? default.to_s : value
  end

  HOST = text("HOST", "0.0.0.0")
  PORT = integer("PORT", 3000, 65_535)
  WORKERS = integer("WORKERS", 1, 256)
  DRIVER = one_of("SQLITE_DRIVER", %w[sqlite3], " on ruby")
  # As it was given: relative to where the program was started.
  DB_FILE = text("DB_FILE", "data.db")
  abort "no database at \"#{DB_FILE}\": make it with: bun createdb.ts --file #{DB_FILE}" unless File.exist?(DB_FILE)

  # Where content items are kept; nil is sqlite, opened when it is first used.
  STORE = text("STORE", "").empty? ? nil : one_of("STORE", %w[sqlite], " on ruby")
  CONTENT_FILE = text("CONTENT_FILE", "content.db")
  IN_MEMORY = CONTENT_FILE == ":memory:"
  CONTENT_DATABASE = IN_MEMORY ? CONTENT_FILE : File.expand_path(CONTENT_FILE)
  JOURNAL = one_of("SQLITE_JOURNAL", %w[wal delete])
  SYNCHRONOUS = one_of("SQLITE_SYNCHRONOUS", %w[normal full off extra])
  if WORKERS > 1 && IN_MEMORY
    abort "WORKERS is #{WORKERS}, and each would have a memory of its own: set CONTENT_FILE to a file that they share"
  end

  # Of each process; Rails keeps as many connections to the database of rows.
  THREADS = 5
end
