package benchmark.spring.content;

import benchmark.Input;
import java.util.Map;
import java.util.Objects;
import org.springframework.util.MultiValueMap;

/** Moves delta to an account, a teller and a branch. */
record Transfer(int aid, int tid, int bid, int delta) {
  static final int MAX_DELTA = 5_000;

  /**
   * Reads a body.
   *
   * @throws Refusal that says what is wrong with it
   */
  static Transfer of(Body body) {
    Map<String, Object> said = Schema.TRANSFER.validate(body);
    return new Transfer(
        number(said, "aid"), number(said, "tid"), number(said, "bid"), number(said, "delta"));
  }

  /**
   * Reads the query of a URL.
   *
   * @throws benchmark.BadRequest that names the parameter, its value and the range
   */
  static Transfer of(MultiValueMap<String, String> query) {
    return new Transfer(
        id(query, "aid"),
        id(query, "tid"),
        id(query, "bid"),
        integer(query, "delta", -MAX_DELTA, MAX_DELTA));
  }

  private static int number(Map<String, Object> said, String name) {
    return ((Double) said.get(name)).intValue();
  }

  private static int id(MultiValueMap<String, String> query, String name) {
    return integer(query, name, 1, Integer.MAX_VALUE);
  }

  private static int integer(
      MultiValueMap<String, String> query, String name, int least, int most) {
    return Input.integer(name, Objects.toString(query.getFirst(name), ""), least, most);
  }
}
