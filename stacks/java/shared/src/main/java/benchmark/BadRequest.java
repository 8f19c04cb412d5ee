package benchmark;

/** Is answered with 400 and its message. */
public final class BadRequest extends RuntimeException {
  BadRequest(String message) {
    super(message);
  }
}
