package benchmark;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** What is read of a request. */
public final class Input {
  private static final Pattern INTEGER = Pattern.compile("0|-?[1-9][0-9]{0,9}");

  private Input() {}

  /**
   * Reads the last segment of a path as it came: to both frameworks a semicolon in it would begin a
   * matrix parameter.
   *
   * @throws BadRequest where it cannot be decoded
   */
  public static String lastSegment(String path) {
    String segment = path.substring(path.lastIndexOf('/') + 1);
    if (segment.indexOf('%') < 0) {
      return segment;
    }
    try {
      return URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw new BadRequest("the path cannot be decoded");
    }
  }

  /**
   * Reads an integer in a range.
   *
   * @throws BadRequest that names the value and the range
   */
  public static int integer(String name, String text, int least, int most) {
    if (INTEGER.matcher(text).matches()) {
      long value = Long.parseLong(text);
      if (value >= least && value <= most) {
        return (int) value;
      }
    }
    throw new BadRequest(
        "%s must be an integer from %d to %d, not %s".formatted(name, least, most, quote(text)));
  }

  /** Quotes a text as JSON.stringify does. */
  public static String quote(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      switch (c) {
        case '"', '\\' -> quoted.append('\\').append(c);
        case '\b' -> quoted.append("\\b");
        case '\f' -> quoted.append("\\f");
        case '\n' -> quoted.append("\\n");
        case '\r' -> quoted.append("\\r");
        case '\t' -> quoted.append("\\t");
        default -> quoted.append(c < ' ' ? "\\u%04x".formatted((int) c) : c);
      }
    }
    return quoted.append('"').toString();
  }
}
