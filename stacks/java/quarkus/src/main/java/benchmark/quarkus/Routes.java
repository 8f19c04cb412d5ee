package benchmark.quarkus;

import benchmark.Database;
import benchmark.Identity;
import benchmark.People;
import benchmark.Size;
import benchmark.Table;
import io.quarkus.qute.Template;
import io.quarkus.runtime.Quarkus;
import io.smallrye.common.annotation.NonBlocking;
import io.vertx.core.http.HttpServerRequest;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.RestResponse.ResponseBuilder;

/** What waits for SQLite runs on a worker thread, the rest on the one that reads the socket. */
@Path("/")
@Produces(MediaType.APPLICATION_JSON)
public class Routes {
  private static final Identity.Named FRAMEWORK =
      new Identity.Named("quarkus", Quarkus.class.getPackage().getImplementationVersion());

  private final String server;
  private final Database database;
  private final People people;
  private final Template hi;

  Routes(
      @ConfigProperty(name = "quarkus.profile") String server,
      Database database,
      People people,
      Template hi) {
    this.server = server;
    this.database = database;
    this.people = people;
    this.hi = hi;
  }

  @GET
  @NonBlocking
  public Identity identity() {
    return Identity.now(server, FRAMEWORK, database);
  }

  @GET
  @Path("plain")
  @NonBlocking
  public Map<String, String> plain() {
    return Map.of("message", "Hello, world!");
  }

  @GET
  @Path("html-template")
  @Produces(MediaType.TEXT_HTML)
  @NonBlocking
  public RestResponse<String> htmlTemplate() {
    return ResponseBuilder.ok(hi.data("name", "Ben").render())
        .header(HttpHeaders.CONTENT_TYPE, "text/html; charset=utf-8") // as the others write it
        .build();
  }

  @GET
  @Path("sqlite/random-5fields/{size}")
  public List<Map<String, Object>> random5(HttpServerRequest request) throws SQLException {
    return people.randomRows(Table.PERSON5, Size.of(request.path()));
  }

  @GET
  @Path("sqlite/random-30fields/{size}")
  public List<Map<String, Object>> random30(HttpServerRequest request) throws SQLException {
    return people.randomRows(Table.PERSON30, Size.of(request.path()));
  }
}
