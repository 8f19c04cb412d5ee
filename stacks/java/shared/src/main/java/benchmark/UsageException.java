package benchmark;

/** A mistake of whoever starts the server: one line that names the value and the remedy. */
public final class UsageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UsageException(String message) {
    super(message);
  }
}
