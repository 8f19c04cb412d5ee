package benchmark.spring.content;

import benchmark.BadRequest;
import benchmark.Input;
import com.github.f4b6a3.ulid.UlidCreator;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Objects;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** The content API. */
@RestController
class ContentRoutes {
  private static final int MAX_LIMIT = 100;
  private static final String LIMIT = "20";
  private static final int USERS = 100;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  private final Store store;

  ContentRoutes(Store store) {
    this.store = store;
  }

  @PostMapping("/content")
  @ResponseStatus(HttpStatus.CREATED)
  Mono<Content> create(@RequestBody Body body) {
    Draft draft = Draft.of(Schema.NEW_CONTENT, body);
    String id = draft.id() == null ? UlidCreator.getUlid().toString() : draft.id();
    Content content = Content.of(id, draft, now());
    return store
        .create(content)
        .thenReturn(content)
        .onErrorMap(DuplicateKeyException.class, e -> Refusal.conflict(id));
  }

  @GetMapping("/content")
  Mono<Page> list(@RequestParam MultiValueMap<String, String> query) {
    int limit = Input.integer("limit", first(query, "limit", LIMIT), 1, MAX_LIMIT);
    String after = first(query, "after", "");
    if (!after.isEmpty()) {
      checkUlid("after", after);
    }
    // One more than asked for tells whether there is a next page.
    return store.list(after, limit + 1).map(contents -> Page.of(contents, limit));
  }

  @GetMapping("/content/{id}")
  Mono<Content> read(ServerHttpRequest request) {
    return store.read(idOf(request)).switchIfEmpty(Mono.error(Refusal.NOT_FOUND));
  }

  @PutMapping("/content/{id}")
  Mono<Content> update(ServerHttpRequest request, @RequestBody Body body) {
    String id = idOf(request);
    return store
        .update(id, Draft.of(Schema.DRAFT, body), now())
        .switchIfEmpty(Mono.error(Refusal.NOT_FOUND));
  }

  @DeleteMapping("/content/{id}")
  @ResponseStatus(HttpStatus.NO_CONTENT)
  Mono<Void> remove(ServerHttpRequest request) {
    return store
        .remove(idOf(request))
        .filter(removed -> removed)
        .switchIfEmpty(Mono.error(Refusal.NOT_FOUND))
        .then();
  }

  @GetMapping("/users")
  Mono<List<User>> users() {
    return store.users(USERS);
  }

  @PostMapping("/users")
  @ResponseStatus(HttpStatus.CREATED)
  Mono<User> addUser(@RequestBody Body body) {
    return store.addUser(NewUser.of(body));
  }

  private static String now() {
    return TIME.format(Instant.now());
  }

  private static String idOf(ServerHttpRequest request) {
    String id = Input.lastSegment(request.getPath().value());
    checkUlid("id", id);
    return id;
  }

  private static void checkUlid(String name, String text) {
    if (!Schema.isUlid(text)) {
      throw new BadRequest("%s must be a ULID, not %s".formatted(name, Input.quote(text)));
    }
  }

  /**
   * A parameter without {@code =} has no value in Spring, and an empty one in the other servers.
   */
  private static String first(MultiValueMap<String, String> query, String name, String otherwise) {
    return query.containsKey(name) ? Objects.toString(query.getFirst(name), "") : otherwise;
  }
}
