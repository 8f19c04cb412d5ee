package benchmark.quarkus;

import benchmark.Config;
import benchmark.Database;
import benchmark.Launch;
import benchmark.People;
import benchmark.Reader;
import benchmark.ReaderPool;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.annotations.QuarkusMain;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Starts java-quarkus or java-quarkus-v2; which, says quarkus.profile. */
@QuarkusMain
public class Main {
  private static Launch launch;

  public static void main(String... args) {
    launch = Launch.orExit();
    Config config = launch.config();
    System.setProperty("quarkus.http.host", config.host());
    System.setProperty("quarkus.http.port", String.valueOf(config.port()));
    System.setProperty("quarkus.datasource.jdbc.url", "jdbc:sqlite:" + config.dbFile());
    Quarkus.run(args);
  }

  @Produces
  @Singleton
  Database database() {
    return launch.database();
  }

  /** Where nothing is pooled, each request opens a connection and closes it again. */
  @Produces
  @Singleton
  People people(
      Database database,
      DataSource source,
      @ConfigProperty(name = "quarkus.datasource.jdbc.pooling-enabled") boolean isPooled)
      throws SQLException {
    if (isPooled) {
      return new ReaderPool(database, source);
    }
    return (table, size) -> {
      try (Reader reader = new Reader(database, source)) {
        return reader.randomRows(table, size);
      }
    };
  }
}
