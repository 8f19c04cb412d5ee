package benchmark.spring;

import benchmark.Database;
import benchmark.Identity;
import benchmark.People;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.SpringVersion;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.ResponseBody;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The scheduler for blocking work reads rows; everything else runs on the event loop. */
@Controller
class Routes {
  private final Database database;
  private final People people;
  private final Postgres.Settings postgres;

  Routes(Database database, People people, ObjectProvider<Postgres.Settings> postgres) {
    this.database = database;
    this.people = people;
    this.postgres = postgres.getIfAvailable();
  }

  @GetMapping("/")
  @ResponseBody
  Map<String, Object> identity() {
    String version = SpringVersion.getVersion();
    Map<String, Object> identity = new HashMap<>();
    identity.putAll(Identity.now("java-spring-webflux", "spring-webflux", version, database));
    if (postgres != null) {
      identity.put("store", postgres.identity());
    }
    return identity;
  }

  @GetMapping("/plain")
  @ResponseBody
  Map<String, String> plain() {
    return Map.of("message", "Hello, world!");
  }

  @GetMapping("/html-template")
  String htmlTemplate(Model model, ServerHttpResponse response) {
    model.addAttribute("name", "Ben");
    response.beforeCommit(() -> Mono.fromRunnable(() -> correct(response.getHeaders())));
    return "hi";
  }

  /** Removes the language that Thymeleaf adds, because the other servers send none. */
  private static void correct(HttpHeaders headers) {
    headers.set(HttpHeaders.CONTENT_TYPE, "text/html; charset=utf-8");
    headers.remove(HttpHeaders.CONTENT_LANGUAGE);
  }

  @GetMapping("/sqlite/random-5fields/{size}")
  @ResponseBody
  Mono<List<Map<String, Object>>> random5(@PathVariable String size) {
    return randomRows("person5", size);
  }

  @GetMapping("/sqlite/random-30fields/{size}")
  @ResponseBody
  Mono<List<Map<String, Object>>> random30(@PathVariable String size) {
    return randomRows("person30", size);
  }

  private Mono<List<Map<String, Object>>> randomRows(String table, String size) {
    int rows = People.size(size);
    return Mono.fromCallable(() -> people.randomRows(table, rows))
        .subscribeOn(Schedulers.boundedElastic());
  }
}
