package benchmark;

/** Integers in URLs. */
public final class Input {
  private static final int MOST_ROWS = 500;

  private Input() {}

  /**
   * Reads how many rows a request asks for.
   *
   * @throws BadRequest with the value and the range
   */
  public static int size(String text) {
    return integer("size", text, 1, MOST_ROWS);
  }

  /**
   * Reads an integer in a range.
   *
   * @throws BadRequest with the value and the range
   */
  public static int integer(String name, String text, int least, int most) {
    if (text.matches("0|-?[1-9][0-9]{0,9}")) {
      long value = Long.parseLong(text);
      if (value >= least && value <= most) {
        return (int) value;
      }
    }
    throw new BadRequest(
        "%s must be an integer from %d to %d, not \"%s\"".formatted(name, least, most, text));
  }
}
