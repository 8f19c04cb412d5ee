package benchmark;

import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/** The rows of data.db. */
public interface People {
  /** Reads rows by random ids, each with a query of its own. Blocks. */
  List<Map<String, Object>> randomRows(Table table, int size)
      throws SQLException, InterruptedException;
}
