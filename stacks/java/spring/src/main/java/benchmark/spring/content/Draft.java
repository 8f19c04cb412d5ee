package benchmark.spring.content;

import java.util.Map;

/**
 * What a client says of a content, defaults filled in.
 *
 * @param id null where none is said
 * @param data any JSON, as text
 */
record Draft(String id, String title, String body, String author, String status, String data) {
  /** How deep data may be nested. */
  private static final int MAX_DEPTH = 64;

  /**
   * Reads a body.
   *
   * @throws Refusal that says what is wrong with it
   */
  static Draft of(Schema schema, Body body) {
    Map<String, Object> said = schema.validate(body);
    Object data = said.get("data");
    if (!Json.isShallow(data, MAX_DEPTH)) {
      throw Refusal.invalid("data must not be nested more than %d deep".formatted(MAX_DEPTH));
    }
    return new Draft(
        (String) said.get("id"),
        (String) said.get("title"),
        (String) said.get("body"),
        (String) said.get("author"),
        (String) said.getOrDefault("status", "draft"),
        Json.stringify(data));
  }
}
