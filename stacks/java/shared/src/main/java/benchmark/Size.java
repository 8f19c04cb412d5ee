package benchmark;

/** How many rows a request asks for. */
public final class Size {
  private static final int MOST = 500;

  private Size() {}

  /**
   * Reads it.
   *
   * @throws BadRequest with the value and the range
   */
  public static int of(String text) {
    int size = text.matches("[1-9][0-9]{0,2}") ? Integer.parseInt(text) : 0;
    if (size < 1 || size > MOST) {
      throw new BadRequest(
          "size must be an integer from 1 to %d, not \"%s\"".formatted(MOST, text));
    }
    return size;
  }
}
