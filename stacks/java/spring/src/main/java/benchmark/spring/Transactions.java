package benchmark.spring;

import io.r2dbc.spi.R2dbcException;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.springframework.context.annotation.Profile;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.r2dbc.BadSqlGrammarException;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;
import reactor.util.retry.Retry;

/** Runs pgbench's transaction, with the SQL of shared/tpcb/. */
@Profile("postgres")
@RestController
class Transactions {
  private static final String ACCOUNT =
      "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2";
  private static final String BALANCE = "SELECT abalance FROM pgbench_accounts WHERE aid = $1";
  private static final String TELLER =
      "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2";
  private static final String BRANCH =
      "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2";
  private static final String HISTORY =
      "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime, filler)"
          + " VALUES ($1, $2, $3, $4, now(), repeat('x', 22))";
  private static final String FUNCTION = "SELECT tpcb($1, $2, $3, $4)";

  /** Tries a transaction five times in all if Postgres rolls it back because of a conflict. */
  private static final Retry RETRY =
      Retry.backoff(4, Duration.ofMillis(5))
          .filter(e -> stateOf(e).matches("40001|40P01"))
          .onRetryExhaustedThrow((retry, failed) -> failed.failure());

  /** The longest time that a request waits. */
  private static final Duration ANSWERING = Duration.ofSeconds(7);

  /** Adds delta to an account, a teller and a branch. */
  record Transfer(
      @NotNull @Min(1) Integer aid,
      @NotNull @Min(1) Integer tid,
      @NotNull @Min(1) Integer bid,
      @NotNull @Min(-5_000) @Max(5_000) Integer delta) {}

  /** The new balance of the account. */
  record Balance(int abalance) {}

  private final DatabaseClient client;
  private final Function<Transfer, Mono<Integer>> once;

  Transactions(
      Postgres.Settings settings, DatabaseClient client, TransactionalOperator transactions) {
    this.client = client;
    once =
        settings.tx().equals("function")
            ? this::byFunction
            : transfer -> inStatements(transfer).as(transactions::transactional);
  }

  /**
   * If the client disconnects, a transaction that has begun goes on. Otherwise one thread would
   * send ROLLBACK while the thread of the connection sends the next statement, and Postgres would
   * run that statement outside of the transaction.
   */
  @PostMapping("/tx")
  Mono<Balance> transact(@Valid @RequestBody Transfer transfer) {
    Mono<Signal<Integer>> ended =
        Mono.defer(() -> once.apply(transfer)).retryWhen(RETRY).materialize();
    boolean goesOn = true;
    return Mono.fromFuture(ended::toFuture, goesOn)
        .<Integer>dematerialize()
        .timeout(ANSWERING)
        .onErrorMap(Transactions::answerTo)
        .map(Balance::new);
  }

  /** One round trip. */
  private Mono<Integer> byFunction(Transfer transfer) {
    return value(FUNCTION, transfer.aid(), transfer.tid(), transfer.bid(), transfer.delta());
  }

  /** Five round trips, and two for BEGIN and COMMIT. */
  private Mono<Integer> inStatements(Transfer transfer) {
    int delta = transfer.delta();
    return add(ACCOUNT, delta, transfer.aid())
        .then(value(BALANCE, transfer.aid()))
        .flatMap(balance ->
            add(TELLER, delta, transfer.tid())
                .then(add(BRANCH, delta, transfer.bid()))
                .then(change(HISTORY, transfer.tid(), transfer.bid(), transfer.aid(), delta))
                .thenReturn(balance));
  }

  private Mono<Void> add(String sql, int delta, int id) {
    return change(sql, delta, id)
        .filter(rows -> rows > 0)
        .switchIfEmpty(Mono.error(() -> new ResponseStatusException(HttpStatus.NOT_FOUND)))
        .then();
  }

  private Mono<Integer> value(String sql, Object... values) {
    return client.sql(sql).bindValues(List.of(values)).mapValue(Integer.class).one();
  }

  private Mono<Long> change(String sql, Object... values) {
    return client.sql(sql).bindValues(List.of(values)).fetch().rowsUpdated();
  }

  /** Goes by SQLSTATE (postgresql.org/docs/current/errcodes-appendix.html). */
  private static Throwable answerTo(Throwable e) {
    return switch (stateOf(e)) {
      case "P0002" -> new ResponseStatusException(HttpStatus.NOT_FOUND);
      case "22003" -> new ResponseStatusException(HttpStatus.CONFLICT, "the balance is too large");
      default ->
          switch (e) {
            case BadSqlGrammarException mistake -> mistake;
            case DataAccessException _, TransactionException _, TimeoutException _ ->
                new ResponseStatusException(
                    HttpStatus.SERVICE_UNAVAILABLE, "Postgres cannot be reached");
            default -> e;
          };
    };
  }

  private static String stateOf(Throwable e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof R2dbcException failure && failure.getSqlState() != null) {
        return failure.getSqlState();
      }
    }
    return "";
  }
}
