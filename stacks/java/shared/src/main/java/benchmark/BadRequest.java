package benchmark;

/** Is answered with 400 and its message. */
public final class BadRequest extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public BadRequest(String message) {
    super(message, null, false, false);
  }
}
