package benchmark.quarkus;

import benchmark.Database;
import benchmark.HttpDate;
import benchmark.People;
import benchmark.Reader;
import benchmark.ReaderPool;
import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.core.http.HttpHeaders;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.sql.SQLException;
import javax.sql.DataSource;

/** What the routes need. */
class Beans {
  private static final int PRIORITY = 100;

  @Produces
  @Singleton
  Database database(Settings settings) {
    return Database.open(settings.dbFile());
  }

  @Produces
  @Singleton
  People people(Settings settings, Database database, DataSource source) throws SQLException {
    if (settings.pooled()) {
      return new ReaderPool(database, source);
    }
    return (table, size) -> {
      try (Reader reader = new Reader(database, source)) {
        return reader.randomRows(table, size);
      }
    };
  }

  void addDate(@Observes Filters filters) {
    filters.register(
        context -> {
          context.response().putHeader(HttpHeaders.DATE, HttpDate.now());
          context.next();
        },
        PRIORITY);
  }
}
