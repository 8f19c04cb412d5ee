package benchmark.spring.content;

import static io.r2dbc.postgresql.PostgresqlConnectionFactoryProvider.PREPARED_STATEMENT_CACHE_QUERIES;
import static io.r2dbc.spi.ConnectionFactoryOptions.CONNECT_TIMEOUT;
import static io.r2dbc.spi.ConnectionFactoryOptions.STATEMENT_TIMEOUT;

import benchmark.UsageException;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryOptions;
import io.r2dbc.spi.Readable;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Postgres, by a pool of connections. */
final class PostgresStore implements Store {
  private static final Duration CONNECTING = Duration.ofSeconds(2);

  /** With the handshake, which takes Java a while before its code is compiled. */
  private static final Duration CREATING = Duration.ofSeconds(10);

  /** After which Postgres itself gives a statement up. */
  private static final Duration STATEMENT = Duration.ofSeconds(5);

  /** The longest that a request waits. */
  static final Duration ANSWERING = Duration.ofSeconds(7);

  /** One process at a time migrates; the number is that of the other servers. */
  private static final String LOCK = "SELECT pg_advisory_xact_lock(7307)";

  /** Each is applied once, as shared/stores/migrations.ts has them. */
  private static final List<String> MIGRATIONS =
      List.of(
          """
          CREATE TABLE content (
            id TEXT COLLATE "C" PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL,
            author TEXT NOT NULL, status TEXT NOT NULL, data TEXT NOT NULL,
            created_at TEXT NOT NULL, updated_at TEXT NOT NULL
          )""",
          """
          CREATE TABLE "user" (
            id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name TEXT NOT NULL, email TEXT NOT NULL
          )""");

  private final StoreConfig.Postgres config;
  private final ConnectionPool pool;
  private final DatabaseClient client;

  /** What {@code GET /} says of it. */
  private record Identity(String name, String driver, int pool, boolean prepare, String tx) {}

  private PostgresStore(StoreConfig.Postgres config, ConnectionFactory connections) {
    this.config = config;
    pool =
        new ConnectionPool(
            ConnectionPoolConfiguration.builder(connections)
                .initialSize(0) // else the first request waits for ten
                .maxSize(config.pool())
                .maxAcquireTime(ANSWERING)
                .maxCreateConnectionTime(CREATING)
                .build());
    client = clientOf(pool);
  }

  /**
   * Connects, and makes the tables that are missing.
   *
   * @throws UsageException where that fails
   */
  static PostgresStore open(StoreConfig.Postgres config) {
    try {
      ConnectionFactory connections = ConnectionFactories.get(optionsOf(config));
      migrate(connections).block();
      return new PostgresStore(config, connections);
    } catch (RuntimeException e) {
      String reason = String.valueOf(NestedExceptionUtils.getMostSpecificCause(e).getMessage());
      throw new UsageException(
          "%s cannot be used (%s): start Postgres, or fix DATABASE_URL"
              .formatted(withoutUser(config.url()), withoutUser(reason)));
    }
  }

  private static String withoutUser(String text) {
    return text.replaceAll("//.*@", "//");
  }

  private static ConnectionFactoryOptions optionsOf(StoreConfig.Postgres config) {
    return ConnectionFactoryOptions.parse("r2dbc:" + config.url())
        .mutate()
        .option(CONNECT_TIMEOUT, CONNECTING)
        .option(STATEMENT_TIMEOUT, STATEMENT)
        .option(PREPARED_STATEMENT_CACHE_QUERIES, config.prepare() ? -1 : 0)
        .build();
  }

  private static DatabaseClient clientOf(ConnectionFactory connections) {
    return DatabaseClient.builder().connectionFactory(connections).namedParameters(false).build();
  }

  private static Mono<Void> migrate(ConnectionFactory connections) {
    DatabaseClient client = clientOf(connections);
    Mono<Void> migration =
        run(client, LOCK)
            .then(run(client, "CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY)"))
            .then(client.sql("SELECT count(*) FROM migration").mapValue(Long.class).one())
            .flatMapMany(applied -> Flux.range(0, MIGRATIONS.size()).skip(applied))
            .concatMap(
                number ->
                    run(client, MIGRATIONS.get(number))
                        .then(run(client, "INSERT INTO migration VALUES (%d)".formatted(number))))
            .then();
    DefaultTransactionDefinition seesOthers = new DefaultTransactionDefinition();
    seesOthers.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
    return TransactionalOperator.create(new R2dbcTransactionManager(connections), seesOthers)
        .transactional(migration);
  }

  private static Mono<Void> run(DatabaseClient client, String sql) {
    return client.sql(sql).then();
  }

  @Override
  public Object identity() {
    String version = PostgresqlConnectionFactory.class.getPackage().getImplementationVersion();
    return new Identity(
        "postgres", config.client() + " " + version, config.pool(), config.prepare(), config.tx());
  }

  @Override
  public Optional<Transactor> transactor() {
    return Optional.of(new Transactor(pool, client, config.tx()));
  }

  @Override
  public Mono<Void> create(Content content) {
    return change(
            Query.CREATE,
            content.id(),
            content.title(),
            content.body(),
            content.author(),
            content.status(),
            content.data(),
            content.createdAt(),
            content.updatedAt())
        .then();
  }

  @Override
  public Mono<Content> read(String id) {
    return rows(Query.READ, PostgresStore::content, id).singleOrEmpty();
  }

  @Override
  public Mono<Content> update(String id, Draft draft, String updatedAt) {
    return rows(
            Query.UPDATE,
            PostgresStore::content,
            draft.title(),
            draft.body(),
            draft.author(),
            draft.status(),
            draft.data(),
            updatedAt,
            id)
        .singleOrEmpty();
  }

  @Override
  public Mono<Boolean> remove(String id) {
    return change(Query.REMOVE, id).map(rows -> rows > 0);
  }

  @Override
  public Mono<List<Content>> list(String after, int limit) {
    return rows(Query.LIST, PostgresStore::content, after, limit).collectList();
  }

  @Override
  public Mono<List<User>> users(int limit) {
    return rows(Query.USERS, PostgresStore::user, limit).collectList();
  }

  @Override
  public Mono<User> addUser(NewUser user) {
    return rows(Query.ADD_USER, PostgresStore::user, user.name(), user.email()).single();
  }

  @Override
  public void close() {
    pool.dispose();
  }

  private Mono<Long> change(Query query, Object... values) {
    return client
        .sql(query.sql)
        .bindValues(List.of(values))
        .fetch()
        .rowsUpdated()
        .timeout(ANSWERING)
        .onErrorMap(PostgresFailure::of);
  }

  private <T> Flux<T> rows(Query query, Function<Readable, T> mapper, Object... values) {
    return client
        .sql(query.sql)
        .bindValues(List.of(values))
        .map(mapper)
        .all()
        .timeout(Mono.delay(ANSWERING))
        .onErrorMap(PostgresFailure::of);
  }

  private static Content content(Readable row) {
    return new Content(
        row.get("id", String.class),
        row.get("title", String.class),
        row.get("body", String.class),
        row.get("author", String.class),
        row.get("status", String.class),
        row.get("data", String.class),
        row.get("created_at", String.class),
        row.get("updated_at", String.class));
  }

  private static User user(Readable row) {
    return new User(
        row.get("id", Integer.class),
        row.get("name", String.class),
        row.get("email", String.class));
  }
}
