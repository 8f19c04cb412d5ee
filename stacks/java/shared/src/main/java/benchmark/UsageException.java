package benchmark;

/** A mistake in the configuration. The message is one line with the value and the remedy. */
public final class UsageException extends RuntimeException {
  public UsageException(String message) {
    super(message);
  }
}
