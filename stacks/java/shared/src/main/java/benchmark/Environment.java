package benchmark;

import java.util.List;
import java.util.Map;

/** Variables that are set from outside; an empty one counts as one that is not set. */
public record Environment(Map<String, String> variables) {

  public boolean has(String name) {
    return !variables.getOrDefault(name, "").isEmpty();
  }

  public String text(String name, String otherwise) {
    return has(name) ? variables.get(name) : otherwise;
  }

  /**
   * Reads an integer from 1 on.
   *
   * @throws UsageException naming the variable, its value and what it may be
   */
  public int integer(String name, int otherwise, int most) {
    String text = text(name, String.valueOf(otherwise));
    int value = text.matches("[0-9]{1,9}") ? Integer.parseInt(text) : 0;
    if (value < 1 || value > most) {
      throw new UsageException(
          "%s is \"%s\": set it to an integer from 1 to %d".formatted(name, text, most));
    }
    return value;
  }

  /**
   * Reads one of some values, the first where none is set.
   *
   * @param where for what they are all the values, e.g. {@code " on java"}
   * @throws UsageException naming the variable, its value and what it may be
   */
  public String oneOf(String name, String where, String... choices) {
    String value = text(name, choices[0]);
    if (!List.of(choices).contains(value)) {
      throw new UsageException(
          "%s is \"%s\":%s set it to one of %s"
              .formatted(name, value, where, String.join(" ", choices)));
    }
    return value;
  }
}
