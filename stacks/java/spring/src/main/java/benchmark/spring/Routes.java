package benchmark.spring;

import benchmark.Database;
import benchmark.Identity;
import benchmark.People;
import benchmark.Size;
import benchmark.Table;
import benchmark.spring.content.Store;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import java.util.Map;
import org.springframework.core.SpringVersion;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** What waits for SQLite runs on the scheduler for blocking work, the rest on the event loop. */
@Controller
class Routes {
  private static final Identity.Named FRAMEWORK =
      new Identity.Named("spring-webflux", SpringVersion.getVersion());

  private final Database database;
  private final People people;
  private final Store store;

  /** What the server is, and where it keeps content. */
  record Whole(@JsonUnwrapped Identity identity, Object store) {}

  Routes(Database database, People people, Store store) {
    this.database = database;
    this.people = people;
    this.store = store;
  }

  @GetMapping("/")
  @ResponseBody
  Whole identity() {
    Identity identity = Identity.now("java-spring-webflux", FRAMEWORK, database);
    return new Whole(identity, store.identity());
  }

  @GetMapping("/plain")
  @ResponseBody
  Map<String, String> plain() {
    return Map.of("message", "Hello, world!");
  }

  @GetMapping("/html-template")
  String htmlTemplate(Model model, ServerHttpResponse response) {
    response.beforeCommit(() -> Mono.fromRunnable(() -> correct(response.getHeaders())));
    model.addAttribute("name", "Ben");
    return "hi";
  }

  /** Of a page: Spring leaves out the blank, and Thymeleaf adds the language. */
  private static void correct(HttpHeaders headers) {
    headers.set(HttpHeaders.CONTENT_TYPE, "text/html; charset=utf-8");
    headers.remove(HttpHeaders.CONTENT_LANGUAGE);
  }

  @GetMapping("/sqlite/random-5fields/{size}")
  @ResponseBody
  Mono<List<Map<String, Object>>> random5(ServerHttpRequest request) {
    return randomRows(Table.PERSON5, request);
  }

  @GetMapping("/sqlite/random-30fields/{size}")
  @ResponseBody
  Mono<List<Map<String, Object>>> random30(ServerHttpRequest request) {
    return randomRows(Table.PERSON30, request);
  }

  /** Spring would answer with the methods of the path. */
  @RequestMapping(path = "/**", method = RequestMethod.OPTIONS)
  void options() {
    throw new ResponseStatusException(HttpStatus.NOT_FOUND);
  }

  private Mono<List<Map<String, Object>>> randomRows(Table table, ServerHttpRequest request) {
    int size = Size.of(request.getPath().value());
    return Mono.fromCallable(() -> people.randomRows(table, size))
        .subscribeOn(Schedulers.boundedElastic());
  }
}
