package handwritten;

import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpHeaders;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The same routes as the guides of Spring have them: what tax compares the server with. */
@SpringBootApplication
@Controller
public class Server {
  private final JdbcTemplate jdbc;

  Server(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  public static void main(String[] args) {
    SpringApplication.run(Server.class, args);
  }

  @Bean
  static WebFilter addDate() {
    return (exchange, chain) -> {
      String now = DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC));
      exchange.getResponse().getHeaders().set(HttpHeaders.DATE, now);
      return chain.filter(exchange);
    };
  }

  @GetMapping("/")
  @ResponseBody
  Map<String, String> identity() {
    return Map.of("message", "spring-webflux");
  }

  @GetMapping("/plain")
  @ResponseBody
  Map<String, String> plain() {
    return Map.of("message", "Hello, world!");
  }

  @GetMapping("/html-template")
  String htmlTemplate(Model model) {
    model.addAttribute("name", "Ben");
    return "hi";
  }

  @GetMapping("/sqlite/random-5fields/{size}")
  @ResponseBody
  Mono<List<Map<String, Object>>> random5(@PathVariable int size) {
    return randomRows("SELECT * FROM person5 WHERE id = ?", size);
  }

  @GetMapping("/sqlite/random-30fields/{size}")
  @ResponseBody
  Mono<List<Map<String, Object>>> random30(@PathVariable int size) {
    return randomRows("SELECT * FROM person30 WHERE id = ?", size);
  }

  private Mono<List<Map<String, Object>>> randomRows(String byId, int size) {
    return Mono.fromCallable(
            () ->
                IntStream.range(0, size).mapToObj(i -> jdbc.queryForMap(byId, randomId())).toList())
        .subscribeOn(Schedulers.boundedElastic());
  }

  private static int randomId() {
    return ThreadLocalRandom.current().nextInt(100_000) + 1;
  }
}
