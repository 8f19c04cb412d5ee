package benchmark;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.Pragma;
import org.sqlite.SQLiteDataSource;
import org.sqlite.SQLiteOpenMode;

/** A file that createdb.ts wrote, with the version and ids that the server reads at its start. */
public record Database(DataSource source, String sqliteVersion, Map<String, Ids> ids) {

  /** The ids of a table, without gaps. */
  public record Ids(long first, long rows) {

    /** Draws an id, each with the same probability. */
    long draw() {
      return first + ThreadLocalRandom.current().nextLong(rows);
    }
  }

  /**
   * Opens a file and closes it again.
   *
   * @throws UsageException if the file is missing, or is not one that createdb.ts wrote
   */
  public static Database open(String file) {
    if (!Files.exists(Path.of(file))) {
      throw new UsageException(
          "no database at \"%1$s\": make it with: bun createdb.ts --file %1$s".formatted(file));
    }
    DataSource source = dataSource(file);
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement()) {
      Map<String, Ids> ids = new HashMap<>();
      for (String table : List.of("person5", "person30")) {
        ids.put(table, ids(table, statement));
      }
      try (ResultSet version = statement.executeQuery("SELECT sqlite_version()")) {
        return new Database(source, version.getString(1), ids);
      }
    } catch (SQLException e) {
      throw new UsageException(
          "\"%1$s\" cannot be used (%2$s): make it again with: bun createdb.ts --file %1$s"
              .formatted(file, e.getMessage()));
    }
  }

  /** Only one thread at a time uses a connection, so SQLite does not need to lock it. */
  private static DataSource dataSource(String file) {
    SQLiteConfig config = new SQLiteConfig();
    config.setReadOnly(true);
    config.setOpenMode(SQLiteOpenMode.NOMUTEX);
    config.setCacheSize(-16_000);
    config.setPragma(Pragma.MMAP_SIZE, "0");
    SQLiteDataSource source = new SQLiteDataSource(config);
    source.setUrl("jdbc:sqlite:" + file);
    return source;
  }

  private static Ids ids(String table, Statement statement) throws SQLException {
    String sql = "SELECT min(id), max(id), count(*) FROM " + table;
    try (ResultSet result = statement.executeQuery(sql)) {
      Ids ids = new Ids(result.getLong(1), result.getLong(3));
      if (ids.rows == 0 || result.getLong(2) - ids.first + 1 != ids.rows) {
        throw new SQLException(table + " is empty or has gaps between its ids");
      }
      return ids;
    }
  }
}
