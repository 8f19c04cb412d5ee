package benchmark.spring;

import jakarta.validation.Valid;
import java.util.Map;
import org.springframework.context.annotation.Profile;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** pgbench's transaction. */
@Profile("postgres")
@RestController
@RequestMapping("/tx")
class TransactionRoutes {
  private final Transactor transactor;

  /** The account's balance in the transaction. */
  record Balance(int abalance) {}

  TransactionRoutes(Transactor transactor) {
    this.transactor = transactor;
  }

  @PostMapping
  Mono<Balance> byBody(@Valid @RequestBody Transfer transfer) {
    return transactor.transact(transfer).map(Balance::new);
  }

  @GetMapping
  Mono<Balance> byQuery(@RequestParam Map<String, String> query) {
    return transactor.transact(Transfer.of(query)).map(Balance::new);
  }
}
