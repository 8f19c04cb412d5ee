package benchmark.quarkus;

import benchmark.Database;
import benchmark.HttpDate;
import benchmark.Launch;
import benchmark.People;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.annotations.QuarkusMain;
import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.core.http.HttpHeaders;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Starts java-quarkus or java-quarkus-v2; quarkus.profile names which. */
@QuarkusMain
public class Main {
  public static void main(String... args) {
    Launch.orExit();
    Quarkus.run(args);
  }

  @Produces
  @Singleton
  Database database(@ConfigProperty(name = "benchmark.db-file") String file) {
    return Database.open(file);
  }

  @Produces
  @Singleton
  People people(
      @ConfigProperty(name = "benchmark.pooled") boolean pooled,
      Database database,
      DataSource source)
      throws SQLException {
    return pooled ? People.pooled(database, source) : People.unpooled(database, source);
  }

  void addDate(@Observes Filters filters) {
    int priority = 100;
    filters.register(
        context -> {
          context.response().putHeader(HttpHeaders.DATE, HttpDate.now());
          context.next();
        },
        priority);
  }
}
