package benchmark;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ThreadLocalRandom;

/** The ids of a table, which has no gaps. */
record Ids(long first, long rows) {

  static Ids of(Table table, Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet result =
            statement.executeQuery("SELECT min(id), max(id), count(*) FROM " + table)) {
      result.next();
      long first = result.getLong(1);
      long last = result.getLong(2);
      long rows = result.getLong(3);
      if (rows == 0 || last - first + 1 != rows) {
        throw new SQLException(table + " is empty or has gaps between its ids");
      }
      return new Ids(first, rows);
    }
  }

  /** Draws one, each with the same probability. */
  long draw() {
    return first + ThreadLocalRandom.current().nextLong(rows);
  }
}
