package benchmark;

import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import javax.sql.DataSource;

/** The rows of data.db. */
public interface People {
  int MAX_SIZE = 500;

  /** The server answers it with 400 and its message. */
  final class BadRequest extends RuntimeException {
    private BadRequest(String message) {
      super(message);
    }
  }

  /** Runs one query per row, each with a random id. Blocks. */
  List<Map<String, Object>> randomRows(String table, int size)
      throws SQLException, InterruptedException;

  /** Opens a connection for each request. */
  static People unpooled(Database database, DataSource source) {
    return (table, size) -> {
      try (Reader reader = new Reader(database, source)) {
        return reader.randomRows(table, size);
      }
    };
  }

  /**
   * Opens one connection per core and keeps them open with their prepared statements, because the
   * usual pools close the statements of a connection that is given back.
   */
  static People pooled(Database database, DataSource source) throws SQLException {
    int connections = Runtime.getRuntime().availableProcessors();
    BlockingQueue<Reader> idle = new ArrayBlockingQueue<>(connections);
    for (int i = 0; i < connections; i++) {
      idle.add(new Reader(database, source));
    }
    return (table, size) -> {
      Reader reader = idle.take();
      try {
        return reader.randomRows(table, size);
      } finally {
        idle.add(reader);
      }
    };
  }

  /**
   * Parses the number of rows that a request asks for.
   *
   * @throws BadRequest with the value and the range
   */
  static int size(String text) {
    int size = text.matches("[1-9][0-9]{0,2}") ? Integer.parseInt(text) : 0;
    if (size < 1 || size > MAX_SIZE) {
      throw new BadRequest(
          "size must be an integer from 1 to %d, not \"%s\"".formatted(MAX_SIZE, text));
    }
    return size;
  }
}
