package benchmark;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.EnumMap;
import java.util.Map;
import javax.sql.DataSource;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteDataSource;

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
