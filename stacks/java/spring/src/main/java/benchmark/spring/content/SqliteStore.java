package benchmark.spring.content;

import benchmark.UsageException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.springframework.dao.DuplicateKeyException;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.Pragma;
import org.sqlite.SQLiteConfig.TransactionMode;
import org.sqlite.SQLiteErrorCode;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * SQLite, by one connection, with statements that are prepared once: more connections would wait
 * for each other's locks. It is opened when it is first used, unless that is done before.
 */
final class SqliteStore implements Store {
  /** How long a write waits for those of other processes. */
  private static final int BUSY_MS = 5_000;

  /** Each is applied once, as shared/stores/migrations.ts has them. */
  private static final List<String> MIGRATIONS =
      List.of(
          """
          CREATE TABLE content (
            id TEXT PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, author TEXT NOT NULL,
            status TEXT NOT NULL, data TEXT NOT NULL, created_at TEXT NOT NULL,
            updated_at TEXT NOT NULL
          ) STRICT""",
          """
          CREATE TABLE user (
            id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, email TEXT NOT NULL
          ) STRICT""");

  private final StoreConfig.Sqlite config;
  private final String version;
  private final Map<Query, PreparedStatement> statements = new EnumMap<>(Query.class);
  private Connection connection;

  /** What {@code GET /} says of it. */
  private record Identity(
      String name, String driver, String file, String journal, String synchronous) {}

  @FunctionalInterface
  private interface Use<T> {
    T of(PreparedStatement statement) throws SQLException;
  }

  @FunctionalInterface
  private interface Mapper<T> {
    T of(ResultSet row) throws SQLException;
  }

  SqliteStore(StoreConfig.Sqlite config, String version) {
    this.config = config;
    this.version = version;
  }

  /**
   * Opens the file, and makes what is missing.
   *
   * @throws UsageException where it cannot be written
   */
  synchronized void open() {
    if (connection != null) {
      return;
    }
    try {
      connection = connect();
    } catch (SQLException e) {
      throw new UsageException(
          "CONTENT_FILE \"%s\" cannot be written (%s): set it to a file that can"
              .formatted(config.file(), e.getMessage()));
    }
  }

  private Connection connect() throws SQLException {
    SQLiteConfig settings = new SQLiteConfig();
    settings.setBusyTimeout(BUSY_MS);
    settings.setPragma(Pragma.JOURNAL_MODE, config.journal());
    settings.setPragma(Pragma.SYNCHRONOUS, config.synchronous());
    settings.setPragma(Pragma.CACHE_SIZE, "-16000");
    settings.setPragma(Pragma.MMAP_SIZE, "0");
    settings.setTransactionMode(TransactionMode.IMMEDIATE);
    settings.setGetGeneratedKeys(false); // else each write asks for the last rowid
    Connection opened = settings.createConnection("jdbc:sqlite:" + config.file());
    try {
      migrate(opened);
      return opened;
    } catch (SQLException e) {
      opened.close();
      throw e;
    }
  }

  private static void migrate(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      int applied = applied(statement);
      for (int i = applied; i < MIGRATIONS.size(); i++) {
        statement.executeUpdate(MIGRATIONS.get(i));
        statement.executeUpdate("PRAGMA user_version = %d".formatted(i + 1));
      }
    }
    connection.setAutoCommit(true); // commits
  }

  private static int applied(Statement statement) throws SQLException {
    try (ResultSet result = statement.executeQuery("PRAGMA user_version")) {
      result.next();
      return result.getInt(1);
    }
  }

  @Override
  public Object identity() {
    return new Identity(
        "sqlite", "jdbc " + version, config.file(), config.journal(), config.synchronous());
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
    return rows(Query.READ, SqliteStore::content, id).flatMap(SqliteStore::only);
  }

  @Override
  public Mono<Content> update(String id, Draft draft, String updatedAt) {
    return rows(
            Query.UPDATE,
            SqliteStore::content,
            draft.title(),
            draft.body(),
            draft.author(),
            draft.status(),
            draft.data(),
            updatedAt,
            id)
        .flatMap(SqliteStore::only);
  }

  @Override
  public Mono<Boolean> remove(String id) {
    return change(Query.REMOVE, id).map(rows -> rows > 0);
  }

  @Override
  public Mono<List<Content>> list(String after, int limit) {
    return rows(Query.LIST, SqliteStore::content, after, limit);
  }

  @Override
  public Mono<List<User>> users(int limit) {
    return rows(Query.USERS, SqliteStore::user, limit);
  }

  @Override
  public Mono<User> addUser(NewUser user) {
    return rows(Query.ADD_USER, SqliteStore::user, user.name(), user.email())
        .flatMap(SqliteStore::only);
  }

  @Override
  public synchronized void close() {
    try {
      if (connection != null) {
        connection.close();
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private Mono<Integer> change(Query query, Object... values) {
    return run(query, PreparedStatement::executeUpdate, values);
  }

  private <T> Mono<List<T>> rows(Query query, Mapper<T> mapper, Object... values) {
    return run(
        query,
        statement -> {
          List<T> rows = new ArrayList<>();
          try (ResultSet result = statement.executeQuery()) {
            while (result.next()) { // to the end: what is written is kept only then
              rows.add(mapper.of(result));
            }
          }
          return rows;
        },
        values);
  }

  private <T> Mono<T> run(Query query, Use<T> use, Object... values) {
    return Mono.fromCallable(() -> attempt(query, use, values))
        .subscribeOn(Schedulers.boundedElastic())
        .onErrorMap(SQLException.class, SqliteStore::failure);
  }

  private synchronized <T> T attempt(Query query, Use<T> use, Object... values)
      throws SQLException {
    open();
    PreparedStatement statement = statements.get(query);
    if (statement == null) {
      statement = connection.prepareStatement(query.sql);
      statements.put(query, statement);
    }
    try {
      for (int i = 0; i < values.length; i++) {
        statement.setObject(i + 1, values[i]);
      }
      return use.of(statement);
    } catch (SQLException e) {
      statements.remove(query).close(); // the driver gives up a statement that failed
      throw e;
    }
  }

  private static Content content(ResultSet row) throws SQLException {
    return new Content(
        row.getString("id"),
        row.getString("title"),
        row.getString("body"),
        row.getString("author"),
        row.getString("status"),
        row.getString("data"),
        row.getString("created_at"),
        row.getString("updated_at"));
  }

  private static User user(ResultSet row) throws SQLException {
    return new User(row.getInt("id"), row.getString("name"), row.getString("email"));
  }

  private static <T> Mono<T> only(List<T> rows) {
    return Mono.justOrEmpty(rows.stream().findFirst());
  }

  /** Goes by the primary result code (sqlite.org/rescode.html). */
  private static Throwable failure(SQLException e) {
    return switch (SQLiteErrorCode.getErrorCode(e.getErrorCode())) {
      case SQLITE_CONSTRAINT -> new DuplicateKeyException("there is one of this id already", e);
      case SQLITE_BUSY, SQLITE_IOERR -> Refusal.UNAVAILABLE;
      case SQLITE_FULL -> Refusal.FULL;
      default -> e;
    };
  }
}
