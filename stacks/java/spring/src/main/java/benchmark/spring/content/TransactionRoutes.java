package benchmark.spring.content;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** Transactions, where the store has them. */
@RestController
@ConditionalOnBean(Transactor.class)
class TransactionRoutes {
  private final Transactor transactor;

  /**
   * What answers say.
   *
   * @param abalance that of the account in the transaction
   */
  record Balance(int abalance) {}

  TransactionRoutes(Transactor transactor) {
    this.transactor = transactor;
  }

  @PostMapping("/tx")
  Mono<Balance> byBody(@RequestBody Body body) {
    return transact(Transfer.of(body));
  }

  @GetMapping("/tx")
  Mono<Balance> byQuery(@RequestParam MultiValueMap<String, String> query) {
    return transact(Transfer.of(query));
  }

  private Mono<Balance> transact(Transfer transfer) {
    return transactor.transact(transfer).map(Balance::new);
  }
}
