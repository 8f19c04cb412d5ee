package benchmark;

/** The body of every answer that is not 200. */
public record Failure(String error) {
  public static final Failure NOT_FOUND = new Failure("not found");

  /** Says what went wrong on stderr, and nothing of it to the client. */
  public static Failure internal(Throwable cause) {
    cause.printStackTrace();
    return new Failure("internal error");
  }
}
