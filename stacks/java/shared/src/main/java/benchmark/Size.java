package benchmark;

/** How many rows a request asks for. */
public final class Size {
  private static final int MOST = 500;

  private Size() {}

  /**
   * Reads it from the end of a path.
   *
   * @throws BadRequest that names the value and the range
   */
  public static int of(String path) {
    return Input.integer("size", Input.lastSegment(path), 1, MOST);
  }
}
