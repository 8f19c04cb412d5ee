# All settings; each comes from an environment variable. A mistake ends the program with one line.
module Settings
  # An integer from 1 to `most`.
  def self.integer(name, default, most)
    text = text(name, default)
    return text.to_i if text.match?(/\A\d+\z/) && text.to_i.between?(1, most)

    abort "#{name} is \"#{text}\": set it to an integer from 1 to #{most}"
  end

  # One of the choices; the first is the default. The error contains `where`, which says what the choices depend on.
  def self.one_of(name, choices, where = "")
    value = text(name, choices.first)
    return value if choices.include?(value)

    abort "#{name} is \"#{value}\":#{where} set it to one of #{choices.join(' ')}"
  end

  # An empty variable counts as not set.
  def self.text(name, default)
    value = ENV.fetch(name, "")
    value.empty? ? default.to_s : value
  end

  HOST = text("HOST", "0.0.0.0")
  PORT = integer("PORT", 3000, 65_535)
  WORKERS = integer("WORKERS", 1, 256)
  DRIVER = one_of("SQLITE_DRIVER", %w[sqlite3], " on ruby")
  DB_FILE = text("DB_FILE", "data.db")
  abort "no database at \"#{DB_FILE}\": make it with: bun createdb.ts --file #{DB_FILE}" unless File.exist?(DB_FILE)

  # nil means sqlite, and the first request that needs it opens it.
  STORE = text("STORE", "").empty? ? nil : one_of("STORE", %w[sqlite], " on ruby")
  CONTENT_FILE = text("CONTENT_FILE", "content.db")
  IN_MEMORY = CONTENT_FILE == ":memory:"
  CONTENT_DATABASE = IN_MEMORY ? CONTENT_FILE : File.expand_path(CONTENT_FILE)
  JOURNAL = one_of("SQLITE_JOURNAL", %w[wal delete])
  SYNCHRONOUS = one_of("SQLITE_SYNCHRONOUS", %w[normal full off extra])
  if WORKERS > 1 && IN_MEMORY
    abort "WORKERS is #{WORKERS}, and each would have a memory of its own: set CONTENT_FILE to a file that they share"
  end

  # Threads of each process. Each thread has a connection to DB_FILE.
  THREADS = 5
end
