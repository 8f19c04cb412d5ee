# frozen_string_literal: true

# What all servers set for each connection; this version of Rails has no setting for it.
module SqlitePragmas
  private

  def configure_connection
    super
    execute "PRAGMA cache_size = -16000"
    execute "PRAGMA mmap_size = 0"
    execute "PRAGMA query_only = 1"
  end
end

ActiveSupport.on_load(:active_record_sqlite3adapter) { prepend SqlitePragmas }
