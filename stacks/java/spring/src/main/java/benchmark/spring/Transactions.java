package benchmark.spring;

import jakarta.validation.Valid;
import org.springframework.context.annotation.Profile;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

@Profile("postgres")
@RestController
class Transactions {
  private final Transactor transactor;

  /** The account's balance in the transaction. */
  record Balance(int abalance) {}

  Transactions(Transactor transactor) {
    this.transactor = transactor;
  }

  @PostMapping("/tx")
  Mono<Balance> transact(@Valid @RequestBody Transfer transfer) {
    return transactor.transact(transfer).map(Balance::new);
  }
}
