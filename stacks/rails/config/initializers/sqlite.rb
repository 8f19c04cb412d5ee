# frozen_string_literal: true

# Sets the pragmas that database.yml has, for each connection; Rails has this setting since 7.1.
module SqlitePragmas
  private

  def configure_connection
    super
    @config.fetch(:pragmas).each { |name, value| execute "PRAGMA #{name} = #{value}" }
  end
end

ActiveSupport.on_load(:active_record_sqlite3adapter) { prepend SqlitePragmas }
