package benchmark.spring.content;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * What shared/content/schema.ts says of an object that is read, in the words of ajv, which
 * validates in the servers of the matrix.
 */
final class Schema {
  static final Schema DRAFT = new Schema(List.of("title", "body", "author"), draft());
  static final Schema NEW_CONTENT = new Schema(DRAFT.required, withId(DRAFT.properties));
  static final Schema TRANSFER = new Schema(List.of("aid", "tid", "bid", "delta"), transfer());
  static final Schema NEW_USER = new Schema(List.of("name", "email"), user());

  private static final Pattern ULID = Pattern.compile("^[0-7][0-9A-HJKMNP-TV-Z]{25}$");
  private static final Pattern NO_TEXT = Pattern.compile("[\\x{0}\\x{d800}-\\x{dfff}]");
  private static final Set<?> STATUSES = Set.of("draft", "published", "archived");

  /** Tells what is wrong with a value. */
  @FunctionalInterface
  private interface Rule {
    Optional<String> mistake(Object value);
  }

  private final List<String> required;
  private final Map<String, Rule> properties;

  private Schema(List<String> required, Map<String, Rule> properties) {
    this.required = required;
    this.properties = properties;
  }

  private static Map<String, Rule> draft() {
    Map<String, Rule> properties = new LinkedHashMap<>();
    properties.put("title", text(200));
    properties.put("body", text(50_000));
    properties.put("author", text(200));
    properties.put("status", Schema::status);
    properties.put("data", value -> Optional.empty());
    return properties;
  }

  private static Map<String, Rule> withId(Map<String, Rule> draft) {
    Map<String, Rule> properties = new LinkedHashMap<>();
    properties.put("id", Schema::id);
    properties.putAll(draft);
    return properties;
  }

  private static Map<String, Rule> user() {
    Map<String, Rule> properties = new LinkedHashMap<>();
    properties.put("name", text(200));
    properties.put("email", text(200));
    return properties;
  }

  private static Map<String, Rule> transfer() {
    Map<String, Rule> properties = new LinkedHashMap<>();
    properties.put("aid", integer(1, Integer.MAX_VALUE));
    properties.put("tid", integer(1, Integer.MAX_VALUE));
    properties.put("bid", integer(1, Integer.MAX_VALUE));
    properties.put("delta", integer(-Transfer.MAX_DELTA, Transfer.MAX_DELTA));
    return properties;
  }

  private static Rule integer(int least, int most) {
    return value -> {
      if (!(value instanceof Double number)
          || Double.isInfinite(number)
          || number != Math.rint(number)) {
        return Optional.of("must be integer");
      }
      if (number < least) {
        return Optional.of("must be >= %d".formatted(least));
      }
      return number > most ? Optional.of("must be <= %d".formatted(most)) : Optional.empty();
    };
  }

  /** Strings that every store can keep. */
  private static Rule text(int maxLength) {
    return value -> {
      if (!(value instanceof String text)) {
        return Optional.of("must be string");
      }
      if (text.codePointCount(0, text.length()) > maxLength) {
        return Optional.of("must NOT have more than %d characters".formatted(maxLength));
      }
      if (text.isEmpty()) {
        return Optional.of("must NOT have fewer than 1 characters");
      }
      return NO_TEXT.matcher(text).find()
          ? Optional.of("must match pattern \"^[^\\u0000\\ud800-\\udfff]*$\"")
          : Optional.empty();
    };
  }

  private static Optional<String> id(Object value) {
    if (!(value instanceof String text)) {
      return Optional.of("must be string");
    }
    return isUlid(text)
        ? Optional.empty()
        : Optional.of("must match pattern \"%s\"".formatted(ULID));
  }

  private static Optional<String> status(Object value) {
    return value != null && STATUSES.contains(value)
        ? Optional.empty()
        : Optional.of("must be equal to one of the allowed values");
  }

  static boolean isUlid(String text) {
    return ULID.matcher(text).matches();
  }

  /**
   * Validates a body.
   *
   * @return the object that it is
   * @throws Refusal that names the first mistake in it
   */
  @SuppressWarnings("unchecked")
  Map<String, Object> validate(Body body) {
    if (!(body.value() instanceof Map<?, ?> object)) {
      throw Refusal.invalid("the body must be object");
    }
    for (String name : required) {
      if (!object.containsKey(name)) {
        throw Refusal.invalid("the body must have required property '%s'".formatted(name));
      }
    }
    for (String key : Json.keys(object)) {
      if (!properties.containsKey(key)) {
        throw Refusal.invalid("the body must NOT have additional properties " + key);
      }
    }
    properties.forEach(
        (name, rule) -> {
          if (object.containsKey(name)) {
            rule.mistake(object.get(name))
                .ifPresent(
                    mistake -> {
                      throw Refusal.invalid(name + " " + mistake);
                    });
          }
        });
    return (Map<String, Object>) object;
  }
}
