package benchmark;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/** A connection with its statements, each prepared once; for one thread at a time. */
final class Reader implements AutoCloseable {
  private final Database database;
  private final Connection connection;
  private final Map<String, Query> queries = new HashMap<>();

  Reader(Database database, DataSource source) throws SQLException {
    this.database = database;
    connection = source.getConnection();
  }

  List<Map<String, Object>> randomRows(String table, int size) throws SQLException {
    Database.Ids ids = database.ids().get(table);
    Query query = queries.get(table);
    if (query == null) {
      query = Query.prepare(connection, table);
      queries.put(table, query);
    }
    try {
      List<Map<String, Object>> rows = new ArrayList<>(size);
      for (int i = 0; i < size; i++) {
        rows.add(query.row(ids.draw()));
      }
      return rows;
    } catch (SQLException e) {
      queries.remove(table).statement.close(); // the driver does not reuse a statement that failed
      throw e;
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }

  /** One row of a table by its primary key. */
  private record Query(PreparedStatement statement, List<String> columns) {

    static Query prepare(Connection connection, String table) throws SQLException {
      PreparedStatement statement =
          connection.prepareStatement("SELECT * FROM " + table + " WHERE id = ?");
      ResultSetMetaData metaData = statement.getMetaData();
      List<String> columns = new ArrayList<>();
      for (int i = 1; i <= metaData.getColumnCount(); i++) {
        columns.add(metaData.getColumnName(i));
      }
      return new Query(statement, columns);
    }

    Map<String, Object> row(long id) throws SQLException {
      statement.setLong(1, id);
      try (ResultSet result = statement.executeQuery()) {
        if (!result.next()) {
          throw new SQLException("no row has the id " + id);
        }
        Map<String, Object> row = new LinkedHashMap<>();
        for (int i = 0; i < columns.size(); i++) {
          row.put(columns.get(i), result.getObject(i + 1));
        }
        return row;
      }
    }
  }
}
