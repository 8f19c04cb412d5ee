package benchmark;

import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/** A read-only view of data.db. */
public interface People {
  /** Reads rows by a query each, their ids uniform over those that exist. It blocks. */
  List<Map<String, Object>> randomRows(Table table, int size) throws SQLException;
}
