package benchmark.spring.content;

import benchmark.Environment;

/**
 * Where content items and users are kept.
 *
 * @param isSet whether that was said, and so is to be tried at the start
 */
public record StoreConfig(String store, boolean isSet, Sqlite sqlite, Postgres postgres) {

  record Sqlite(String file, String journal, String synchronous) {}

  /**
   * How Postgres is reached.
   *
   * @param pool the most connections at a time
   * @param prepare whether statements are prepared on the server, once per connection
   * @param tx how pgbench's transaction is asked for
   */
  record Postgres(String client, String url, int pool, boolean prepare, String tx) {}

  /**
   * Reads the variables.
   *
   * @throws benchmark.UsageException naming the variable, its value and what it may be
   */
  public static StoreConfig read(Environment env) {
    return new StoreConfig(
        env.oneOf("STORE", "", "sqlite", "postgres"),
        env.has("STORE"),
        new Sqlite(
            env.text("CONTENT_FILE", "content.db"),
            env.oneOf("SQLITE_JOURNAL", "", "wal", "delete"),
            env.oneOf("SQLITE_SYNCHRONOUS", "", "normal", "full", "off", "extra")),
        new Postgres(
            env.oneOf("POSTGRES_CLIENT", " on java", "r2dbc"),
            env.text("DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres"),
            env.integer("POSTGRES_POOL", 10, 1_000),
            Boolean.parseBoolean(env.oneOf("POSTGRES_PREPARE", "", "true", "false")),
            env.oneOf("POSTGRES_TX", "", "statements", "function")));
  }
}
