package benchmark.spring;

import benchmark.Input;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;
import java.util.Map;

/** Moves delta to an account, a teller and a branch. */
record Transfer(
    @NotNull @Min(1) Integer aid,
    @NotNull @Min(1) Integer tid,
    @NotNull @Min(1) Integer bid,
    @NotNull @Min(-MAX_DELTA) @Max(MAX_DELTA) Integer delta) {
  private static final int MAX_DELTA = 5_000;

  /**
   * Reads the query of a URL.
   *
   * @throws benchmark.BadRequest with the parameter, its value and the range
   */
  static Transfer of(Map<String, String> query) {
    return new Transfer(
        id(query, "aid"),
        id(query, "tid"),
        id(query, "bid"),
        Input.integer("delta", query.getOrDefault("delta", ""), -MAX_DELTA, MAX_DELTA));
  }

  private static int id(Map<String, String> query, String name) {
    return Input.integer(name, query.getOrDefault(name, ""), 1, Integer.MAX_VALUE);
  }
}
