package benchmark.spring;

import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Pattern;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * How Postgres is asked: POSTGRES_CLIENT and so on.
 *
 * @param pool the most connections
 * @param prepare whether statements are prepared on the server, once per connection
 * @param tx how a transaction is asked for
 */
@Validated
@ConfigurationProperties("postgres")
record Postgres(
    @DefaultValue("r2dbc") @Pattern(regexp = "r2dbc") String client,
    @DefaultValue("10") @Min(1) @Max(1000) int pool,
    @DefaultValue("true") boolean prepare,
    @DefaultValue("statements") @Pattern(regexp = "statements|function") String tx) {

  /** What {@code GET /} says of it. */
  record Identity(String name, String driver, int pool, boolean prepare, String tx) {}

  Identity identity() {
    String version = PostgresqlConnectionFactory.class.getPackage().getImplementationVersion();
    return new Identity("postgres", client + " " + version, pool, prepare, tx);
  }
}
