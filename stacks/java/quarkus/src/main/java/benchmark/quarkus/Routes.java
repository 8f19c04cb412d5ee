package benchmark.quarkus;

import benchmark.Database;
import benchmark.Identity;
import benchmark.People;
import io.quarkus.qute.Template;
import io.quarkus.runtime.Quarkus;
import io.smallrye.common.annotation.NonBlocking;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jboss.resteasy.reactive.RestPath;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.RestResponse.ResponseBuilder;

/** Worker threads read rows; everything else runs on the event loop. */
@Path("/")
@Produces(MediaType.APPLICATION_JSON)
public class Routes {
  private static final String VERSION = Quarkus.class.getPackage().getImplementationVersion();

  @ConfigProperty(name = "quarkus.profile")
  String server;

  @Inject Database database;
  @Inject People people;
  @Inject Template hi;

  @GET
  @NonBlocking
  public Map<String, Object> identity() {
    return Identity.now(server, "quarkus", VERSION, database);
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
        .header(HttpHeaders.CONTENT_TYPE, "text/html; charset=utf-8")
        .build();
  }

  @GET
  @Path("sqlite/random-5fields/{size}")
  public List<Map<String, Object>> random5(@RestPath String size)
      throws SQLException, InterruptedException {
    return people.randomRows("person5", People.size(size));
  }

  @GET
  @Path("sqlite/random-30fields/{size}")
  public List<Map<String, Object>> random30(@RestPath String size)
      throws SQLException, InterruptedException {
    return people.randomRows("person30", People.size(size));
  }
}
