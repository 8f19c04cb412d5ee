package benchmark.spring;

import benchmark.Database;
import benchmark.HttpDate;
import benchmark.Launch;
import benchmark.People;
import jakarta.validation.constraints.Pattern;
import java.sql.SQLException;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpHeaders;
import org.springframework.validation.annotation.Validated;
import org.springframework.web.server.WebFilter;

/** Starts java-spring-webflux. */
@SpringBootApplication
@EnableConfigurationProperties(Main.Settings.class)
public class Main {

  /** With the store postgres, the server has /tx. */
  @Validated
  @ConfigurationProperties("benchmark")
  record Settings(@Pattern(regexp = "sqlite|postgres") String store, String dbFile) {}

  public static void main(String[] args) {
    Launch.orExit();
    SpringApplication.run(Main.class, args);
  }

  @Bean
  Database database(Settings settings) {
    return Database.open(settings.dbFile());
  }

  @Bean
  People people(Database database) throws SQLException {
    return People.pooled(database, database.source());
  }

  @Bean
  WebFilter addDate() {
    return (exchange, chain) -> {
      exchange.getResponse().getHeaders().set(HttpHeaders.DATE, HttpDate.now());
      return chain.filter(exchange);
    };
  }
}
