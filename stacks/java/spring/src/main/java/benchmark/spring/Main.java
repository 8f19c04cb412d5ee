package benchmark.spring;

import benchmark.Config;
import benchmark.Database;
import benchmark.Environment;
import benchmark.Launch;
import benchmark.People;
import benchmark.ReaderPool;
import benchmark.spring.content.Store;
import benchmark.spring.content.StoreConfig;
import benchmark.spring.content.Transactor;
import java.sql.SQLException;
import java.util.Map;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.support.GenericApplicationContext;

/** Starts java-spring-webflux. */
@SpringBootApplication
public class Main {

  public static void main(String[] args) {
    Launch launch = Launch.orExit();
    Config config = launch.config();
    StoreConfig stores = Launch.orExit(() -> StoreConfig.read(new Environment(System.getenv())));
    new SpringApplicationBuilder(Main.class)
        .properties(Map.of("server.address", config.host(), "server.port", config.port()))
        .initializers(
            context -> {
              // Here, as the client of Postgres logs, and how to log is known from here on.
              Store store =
                  Launch.orExit(() -> Store.open(stores, launch.database().sqliteVersion()));
              GenericApplicationContext beans = (GenericApplicationContext) context;
              beans.registerBean(Database.class, launch::database);
              beans.registerBean(Store.class, () -> store);
              store.transactor().ifPresent(it -> beans.registerBean(Transactor.class, () -> it));
            })
        .run(args);
  }

  @Bean
  People people(Database database) throws SQLException {
    return new ReaderPool(database, database.dataSource());
  }
}
