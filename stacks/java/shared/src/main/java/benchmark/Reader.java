package benchmark;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/** A connection with its statements, each prepared once; for one thread at a time. */
public final class Reader implements People, AutoCloseable {
  private static final List<String> PRAGMAS =
      List.of("cache_size = -16000", "mmap_size = 0", "query_only = 1");

  private final Map<Table, Ids> ids;
  private final Connection connection;
  private final Map<Table, Query> queries = new EnumMap<>(Table.class);

  /** Opens a connection and sets what all servers share. */
  public Reader(Database database, DataSource source) throws SQLException {
    ids = database.ids();
    connection = source.getConnection();
    try (Statement statement = connection.createStatement()) {
      for (String pragma : PRAGMAS) {
        statement.execute("PRAGMA " + pragma);
      }
    }
  }

  @Override
  public List<Map<String, Object>> randomRows(Table table, int size) throws SQLException {
    Query query = queries.get(table);
    if (query == null) {
      query = Query.prepare(connection, table);
      queries.put(table, query);
    }
    try {
      List<Map<String, Object>> rows = new ArrayList<>(size);
      for (int i = 0; i < size; i++) {
        rows.add(query.row(ids.get(table).draw()));
      }
      return rows;
    } catch (SQLException e) {
      queries.remove(table).statement.close(); // the driver gives up a statement that failed
      throw e;
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }

  /** One row of a table by its primary key. */
  private record Query(Table table, PreparedStatement statement, String[] columns) {

    static Query prepare(Connection connection, Table table) throws SQLException {
      PreparedStatement statement =
          connection.prepareStatement("SELECT * FROM " + table + " WHERE id = ?");
      ResultSetMetaData metaData = statement.getMetaData();
      String[] columns = new String[metaData.getColumnCount()];
      for (int i = 0; i < columns.length; i++) {
        columns[i] = metaData.getColumnName(i + 1);
      }
      return new Query(table, statement, columns);
    }

    Map<String, Object> row(long id) throws SQLException {
      statement.setLong(1, id);
      try (ResultSet result = statement.executeQuery()) {
        if (!result.next()) {
          throw new SQLException(table + " has lost its row " + id);
        }
        Map<String, Object> row = new LinkedHashMap<>();
        for (int i = 0; i < columns.length; i++) {
          row.put(columns[i], result.getObject(i + 1));
        }
        return row;
      }
    }
  }
}
