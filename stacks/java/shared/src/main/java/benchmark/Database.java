package benchmark;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteDataSource;
import org.sqlite.SQLiteJDBCLoader;

/** What was learnt of data.db when it was first opened. */
public record Database(String file, String sqliteVersion, Map<Table, Ids> ids) {

  /**
   * Opens a file and closes it again.
   *
   * @throws UsageException where it is missing or is not what createdb.ts writes
   */
  public static Database open(String file) {
    if (!Files.exists(Path.of(file))) {
      throw new UsageException(
          "no database at \"%1$s\": make it with: bun createdb.ts --file %1$s".formatted(file));
    }
    loadDriver();
    try (Connection connection = dataSource(file).getConnection()) {
      Map<Table, Ids> ids = new EnumMap<>(Table.class);
      for (Table table : Table.values()) {
        ids.put(table, Ids.of(table, connection));
      }
      return new Database(file, sqliteVersion(connection), ids);
    } catch (SQLException e) {
      throw new UsageException(
          "\"%1$s\" cannot be used (%2$s): make it again with: bun createdb.ts --file %1$s"
              .formatted(file, e.getMessage()));
    }
  }

  /**
   * Has the driver unpack its library into a folder of this process, which is removed once it is
   * loaded. In a common folder it would look for what killed processes have left, and log an error
   * where another process that starts just then deletes it first.
   */
  private static void loadDriver() {
    try {
      Path folder = Files.createTempDirectory("sqlite-jdbc-");
      System.setProperty("org.sqlite.tmpdir", folder.toString());
      SQLiteJDBCLoader.initialize();
      try (Stream<Path> files = Files.list(folder)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
      Files.delete(folder);
    } catch (Exception e) {
      throw new UsageException(
          "the library of SQLite cannot be unpacked (%s): make the folder for temporary files writable"
              .formatted(e.getMessage()));
    }
  }

  /** Connections that read only, straight from the driver. */
  public DataSource dataSource() {
    return dataSource(file);
  }

  private static DataSource dataSource(String file) {
    SQLiteConfig config = new SQLiteConfig();
    config.setReadOnly(true);
    SQLiteDataSource source = new SQLiteDataSource(config);
    source.setUrl("jdbc:sqlite:" + file);
    return source;
  }

  private static String sqliteVersion(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery("SELECT sqlite_version()")) {
      result.next();
      return result.getString(1);
    }
  }
}
