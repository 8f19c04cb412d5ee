package benchmark.spring.content;

import benchmark.UsageException;
import java.util.List;
import java.util.Optional;
import org.springframework.dao.DuplicateKeyException;
import reactor.core.publisher.Mono;

/**
 * Where content items and users are kept. What is written is durable, as far as the settings of the
 * store promise it, when a Mono completes. Each may fail with {@link Refusal#UNAVAILABLE} and
 * {@link Refusal#FULL}.
 */
public interface Store extends AutoCloseable {

  /**
   * Opens the one that is set.
   *
   * @throws UsageException where it cannot be reached or written
   */
  static Store open(StoreConfig config, String sqliteVersion) {
    if (config.store().equals("postgres")) {
      return PostgresStore.open(config.postgres());
    }
    SqliteStore store = new SqliteStore(config.sqlite(), sqliteVersion);
    if (config.isSet()) {
      store.open();
    }
    return store;
  }

  /** What {@code GET /} says of it. */
  Object identity();

  /** Fails with {@link DuplicateKeyException} where there is one of its id. */
  Mono<Void> create(Content content);

  /** Is empty where there is none. */
  Mono<Content> read(String id);

  /** Gives the content as it is then, is empty where there is none. */
  Mono<Content> update(String id, Draft draft, String updatedAt);

  /** Tells whether there was one. */
  Mono<Boolean> remove(String id);

  /** Gives the first contents by id whose id is greater than another. */
  Mono<List<Content>> list(String after, int limit);

  /** Gives the first users by id. */
  Mono<List<User>> users(int limit);

  Mono<User> addUser(NewUser user);

  /** What makes transactions of pgbench, where it can. */
  default Optional<Transactor> transactor() {
    return Optional.empty();
  }

  @Override
  void close();
}
