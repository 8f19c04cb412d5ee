package benchmark.spring.content;

import io.r2dbc.spi.ConnectionFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.r2dbc.core.FetchSpec;
import org.springframework.transaction.reactive.TransactionalOperator;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;
import reactor.util.retry.Retry;

/** Makes pgbench's transaction, as shared/tpcb/ has it. */
public final class Transactor {
  /** How often it is tried in all where others are in its way. */
  private static final int ATTEMPTS = 5;

  /** The most that it waits before the second attempt, each time more. */
  private static final Duration PAUSE = Duration.ofMillis(5);

  private static final Retry AGAIN =
      Retry.max(ATTEMPTS - 1)
          .filter(PostgresFailure::isUndone)
          .doBeforeRetryAsync(failed -> pause(failed.totalRetries() + 1))
          .onRetryExhaustedThrow((retry, failed) -> failed.failure());

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

  private final DatabaseClient client;
  private final TransactionalOperator transactions;
  private final Function<Transfer, Mono<Integer>> once;

  /**
   * Asks as is set.
   *
   * @param how a value of POSTGRES_TX
   */
  Transactor(ConnectionFactory connections, DatabaseClient client, String how) {
    this.client = client;
    transactions = TransactionalOperator.create(new R2dbcTransactionManager(connections));
    once = how.equals("function") ? this::byFunction : this::inStatements;
  }

  /**
   * Makes one in time, again where Postgres has undone it. Gives the account's balance in it. Fails
   * with {@link Refusal#NOT_FOUND} where there is no such account, teller or branch. One that has
   * begun is not cancelled where nobody waits for it any more: the thread that cancels would send
   * ROLLBACK while that of the connection sends the next statement, which then is outside of it.
   */
  Mono<Integer> transact(Transfer transfer) {
    Mono<Signal<Integer>> ended =
        Mono.defer(() -> once.apply(transfer)).retryWhen(AGAIN).materialize();
    boolean goesOn = true;
    return Mono.fromFuture(ended::toFuture, goesOn)
        .<Integer>dematerialize()
        .timeout(PostgresStore.ANSWERING)
        .onErrorMap(PostgresFailure::of);
  }

  private static Mono<Void> pause(long attempt) {
    double most = PAUSE.multipliedBy(attempt).toNanos();
    return Mono.delay(Duration.ofNanos((long) (ThreadLocalRandom.current().nextDouble() * most)))
        .then();
  }

  /** One round trip. */
  private Mono<Integer> byFunction(Transfer transfer) {
    return client
        .sql(FUNCTION)
        .bindValues(List.of(transfer.aid(), transfer.tid(), transfer.bid(), transfer.delta()))
        .mapValue(Integer.class)
        .one();
  }

  /** BEGIN, the five, and COMMIT. */
  private Mono<Integer> inStatements(Transfer transfer) {
    int delta = transfer.delta();
    return add(ACCOUNT, delta, transfer.aid())
        .then(Mono.defer(() -> balance(transfer.aid())))
        .flatMap(
            balance ->
                add(TELLER, delta, transfer.tid())
                    .then(Mono.defer(() -> add(BRANCH, delta, transfer.bid())))
                    .then(Mono.defer(() -> keep(transfer)))
                    .thenReturn(balance))
        .as(transactions::transactional);
  }

  private Mono<Void> add(String sql, int delta, int id) {
    return ask(sql, delta, id)
        .rowsUpdated()
        .filter(rows -> rows > 0)
        .switchIfEmpty(Mono.error(Refusal.NOT_FOUND))
        .then();
  }

  private Mono<Integer> balance(int aid) {
    return client.sql(BALANCE).bindValues(List.of(aid)).mapValue(Integer.class).one();
  }

  private Mono<Long> keep(Transfer transfer) {
    return ask(HISTORY, transfer.tid(), transfer.bid(), transfer.aid(), transfer.delta())
        .rowsUpdated();
  }

  private FetchSpec<?> ask(String sql, Object... values) {
    return client.sql(sql).bindValues(List.of(values)).fetch();
  }
}
