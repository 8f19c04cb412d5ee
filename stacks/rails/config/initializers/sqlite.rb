# Sets only the pragmas of database.yml on each connection, because Rails since 7.1 would set the journal mode of a file
# that is open for reading only.
module SqlitePragmas
  private

  def configure_connection
    database = @raw_connection || @connection # @connection in Rails before 7.1
    @config.fetch(:pragmas).each { |name, value| database.execute "PRAGMA #{name} = #{value}" }
  end
end

ActiveSupport.on_load(:active_record_sqlite3adapter) { prepend SqlitePragmas }
