package handwritten;

import io.quarkus.qute.Template;
import io.smallrye.common.annotation.NonBlocking;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;

/** The same routes as the guides of Quarkus have them: what tax compares the servers with. */
@Path("/")
@Produces(MediaType.APPLICATION_JSON)
public class Server {
  private final DataSource source;
  private final Template hi;

  Server(DataSource source, Template hi) {
    this.source = source;
    this.hi = hi;
  }

  @GET
  @NonBlocking
  public Map<String, String> identity() {
    return Map.of("message", "quarkus");
  }

  @GET
  @Path("plain")
  @NonBlocking
  public Map<String, String> plain() {
    return Map.of("message", "Hello, world!");
  }

  @GET
  @Path("html-template")
  @Produces("text/html; charset=utf-8")
  @NonBlocking
  public String htmlTemplate() {
    return hi.data("name", "Ben").render();
  }

  @GET
  @Path("sqlite/random-5fields/{size}")
  public List<Map<String, Object>> random5(int size) throws SQLException {
    return randomRows("SELECT * FROM person5 WHERE id = ?", size);
  }

  @GET
  @Path("sqlite/random-30fields/{size}")
  public List<Map<String, Object>> random30(int size) throws SQLException {
    return randomRows("SELECT * FROM person30 WHERE id = ?", size);
  }

  private List<Map<String, Object>> randomRows(String byId, int size) throws SQLException {
    try (Connection connection = source.getConnection();
        PreparedStatement statement = connection.prepareStatement(byId)) {
      List<Map<String, Object>> rows = new ArrayList<>(size);
      for (int i = 0; i < size; i++) {
        statement.setInt(1, ThreadLocalRandom.current().nextInt(100_000) + 1);
        try (ResultSet result = statement.executeQuery()) {
          Map<String, Object> row = new LinkedHashMap<>();
          for (int column = 1; column <= result.getMetaData().getColumnCount(); column++) {
            row.put(result.getMetaData().getColumnName(column), result.getObject(column));
          }
          rows.add(row);
        }
      }
      return rows;
    }
  }
}
