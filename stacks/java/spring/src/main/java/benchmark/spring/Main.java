package benchmark.spring;

import benchmark.Config;
import benchmark.Database;
import benchmark.Launch;
import benchmark.People;
import benchmark.ReaderPool;
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
    new SpringApplicationBuilder(Main.class)
        .properties(Map.of("server.address", config.host(), "server.port", config.port()))
        .initializers(
            context ->
                ((GenericApplicationContext) context)
                    .registerBean(Database.class, launch::database))
        .run(args);
  }

  @Bean
  People people(Database database) throws SQLException {
    return new ReaderPool(database, database.dataSource());
  }
}
