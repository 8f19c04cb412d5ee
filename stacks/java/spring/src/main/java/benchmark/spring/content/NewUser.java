package benchmark.spring.content;

import java.util.Map;

/** What a client says of a user. */
record NewUser(String name, String email) {

  /**
   * Reads a body.
   *
   * @throws Refusal that says what is wrong with it
   */
  static NewUser of(Body body) {
    Map<String, Object> said = Schema.NEW_USER.validate(body);
    return new NewUser((String) said.get("name"), (String) said.get("email"));
  }
}
