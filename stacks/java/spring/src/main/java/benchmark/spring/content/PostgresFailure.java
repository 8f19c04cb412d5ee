package benchmark.spring.content;

import benchmark.UsageException;
import io.r2dbc.spi.R2dbcException;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.springframework.http.HttpStatus;

/** What a failure of Postgres is to a client of the server. */
final class PostgresFailure {
  private static final Refusal TOO_LARGE =
      new Refusal(HttpStatus.CONFLICT, "a balance would be too large");

  private PostgresFailure() {}

  /** Goes by SQLSTATE (postgresql.org/docs/current/errcodes-appendix.html). */
  static Throwable of(Throwable e) {
    if (causes(e).anyMatch(TimeoutException.class::isInstance)) {
      return Refusal.UNAVAILABLE; // no connection could be made, or no answer came, in time
    }
    Optional<R2dbcException> cause = cause(e);
    if (cause.isEmpty()) {
      return e;
    }
    String state = stateOf(cause.get());
    return switch (state) {
      case "53100" -> Refusal.FULL;
      case "P0002" -> Refusal.NOT_FOUND;
      case "22003" -> TOO_LARGE;
      case "42P01", "42883" ->
          new UsageException(
              "DATABASE_URL has no tables of pgbench: make them with: bun createdb.ts --tpcb");
      default -> state.matches("|(08|53|57014|57P0).*") || isUndone(e) ? Refusal.UNAVAILABLE : e;
    };
  }

  /** Tells whether Postgres undid a transaction for the sake of others. */
  static boolean isUndone(Throwable e) {
    return cause(e).filter(cause -> stateOf(cause).matches("40001|40P01")).isPresent();
  }

  /** Is empty where the pool has lost a connection, of which it tells no state. */
  private static String stateOf(R2dbcException e) {
    return Optional.ofNullable(e.getSqlState()).orElse("");
  }

  private static Optional<R2dbcException> cause(Throwable e) {
    return causes(e)
        .filter(R2dbcException.class::isInstance)
        .map(R2dbcException.class::cast)
        .findFirst();
  }

  private static Stream<Throwable> causes(Throwable e) {
    return Stream.iterate(e, cause -> cause != null, Throwable::getCause);
  }
}
