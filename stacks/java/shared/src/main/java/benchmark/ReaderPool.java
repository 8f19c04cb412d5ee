package benchmark;

import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import javax.sql.DataSource;

/**
 * Open connections, one for each core. The usual pools close the statements of a connection that is
 * given back; here they stay prepared.
 */
public final class ReaderPool implements People {
  private final BlockingQueue<Reader> idle;

  /** Opens the connections. */
  public ReaderPool(Database database, DataSource source) throws SQLException {
    int size = Runtime.getRuntime().availableProcessors();
    idle = new ArrayBlockingQueue<>(size);
    for (int i = 0; i < size; i++) {
      idle.add(new Reader(database, source));
    }
  }

  @Override
  public List<Map<String, Object>> randomRows(Table table, int size)
      throws SQLException, InterruptedException {
    Reader reader = idle.take();
    try {
      return reader.randomRows(table, size);
    } finally {
      idle.add(reader);
    }
  }
}
