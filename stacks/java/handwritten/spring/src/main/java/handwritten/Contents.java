package handwritten;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/** Content items in a SQLite file that has the table already. */
@RestController
@RequestMapping("/content")
@ConditionalOnProperty("CONTENT_FILE")
class Contents {
  private final JdbcTemplate jdbc;
  private final ObjectMapper json;

  Contents(ObjectMapper json) {
    this.json = json;
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl("jdbc:sqlite:" + System.getenv("CONTENT_FILE"));
    config.setMaximumPoolSize(1); // SQLite has one writer
    config.addDataSourceProperty("journal_mode", "WAL");
    config.addDataSourceProperty("synchronous", "NORMAL");
    config.addDataSourceProperty("busy_timeout", "5000");
    config.addDataSourceProperty("cache_size", "-16000");
    jdbc = new JdbcTemplate(new HikariDataSource(config));
  }

  record Draft(String title, String body, String author, String status, JsonNode data) {}

  record Content(
      String id,
      String title,
      String body,
      String author,
      String status,
      JsonNode data,
      @JsonProperty("created_at") String createdAt,
      @JsonProperty("updated_at") String updatedAt) {}

  record Page(List<Content> items, String next) {}

  @PostMapping
  @ResponseStatus(HttpStatus.CREATED)
  Mono<Content> create(@RequestBody Draft draft) {
    String now = now();
    Content content =
        new Content(
            UUID.randomUUID().toString(),
            draft.title,
            draft.body,
            draft.author,
            draft.status,
            draft.data,
            now,
            now);
    return blocking(
        () -> {
          jdbc.update(
              "INSERT INTO content VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
              content.id,
              content.title,
              content.body,
              content.author,
              content.status,
              content.data.toString(),
              now,
              now);
          return content;
        });
  }

  @GetMapping("/{id}")
  Mono<Content> read(@PathVariable String id) {
    return blocking(
        () -> one(jdbc.query("SELECT * FROM content WHERE id = ?", this::toContent, id)));
  }

  @PutMapping("/{id}")
  Mono<Content> update(@PathVariable String id, @RequestBody Draft draft) {
    String sql =
        "UPDATE content SET title = ?, body = ?, author = ?, status = ?, data = ?, updated_at = ? WHERE id = ?"
            + " RETURNING *";
    return blocking(
        () ->
            one(
                jdbc.query(
                    sql,
                    this::toContent,
                    draft.title,
                    draft.body,
                    draft.author,
                    draft.status,
                    draft.data.toString(),
                    now(),
                    id)));
  }

  @DeleteMapping("/{id}")
  @ResponseStatus(HttpStatus.NO_CONTENT)
  Mono<Void> remove(@PathVariable String id) {
    return blocking(
            () -> {
              if (jdbc.update("DELETE FROM content WHERE id = ?", id) == 0) throw notFound();
              return id;
            })
        .then();
  }

  @GetMapping
  Mono<Page> list(@RequestParam(defaultValue = "") String after, @RequestParam int limit) {
    String sql = "SELECT * FROM content WHERE id > ? ORDER BY id LIMIT ?";
    return blocking(
        () -> {
          List<Content> items = jdbc.query(sql, this::toContent, after, limit + 1);
          if (items.size() <= limit) return new Page(items, null);
          return new Page(items.subList(0, limit), items.get(limit - 1).id);
        });
  }

  private static <T> Mono<T> blocking(Callable<T> work) {
    return Mono.fromCallable(work).subscribeOn(Schedulers.boundedElastic());
  }

  private static Content one(List<Content> found) {
    if (found.isEmpty()) throw notFound();
    return found.get(0);
  }

  private static ResponseStatusException notFound() {
    return new ResponseStatusException(HttpStatus.NOT_FOUND);
  }

  private Content toContent(ResultSet row, int number) throws SQLException {
    return new Content(
        row.getString(1),
        row.getString(2),
        row.getString(3),
        row.getString(4),
        row.getString(5),
        json.readTree(row.getString(6)),
        row.getString(7),
        row.getString(8));
  }

  private static String now() {
    return Instant.now().truncatedTo(ChronoUnit.MILLIS).toString();
  }
}
