package benchmark.spring;

import benchmark.Database;
import benchmark.HttpDate;
import benchmark.Launch;
import benchmark.People;
import benchmark.ReaderPool;
import java.sql.SQLException;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpHeaders;
import org.springframework.web.server.WebFilter;

/** Starts java-spring-webflux. */
@SpringBootApplication
public class Main {

  public static void main(String[] args) {
    Launch.orExit();
    SpringApplication.run(Main.class, args);
  }

  @Bean
  Database database(@Value("${DB_FILE:data.db}") String file) {
    return Database.open(file);
  }

  @Bean
  People people(Database database) throws SQLException {
    return new ReaderPool(database, database.source());
  }

  @Bean
  WebFilter addDate() {
    return (exchange, chain) -> {
      exchange.getResponse().getHeaders().set(HttpHeaders.DATE, HttpDate.now());
      return chain.filter(exchange);
    };
  }
}
