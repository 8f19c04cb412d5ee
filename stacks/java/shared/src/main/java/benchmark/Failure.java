package benchmark;

/** The body of every answer that is an error. */
public record Failure(String error) {

  /** Prints the cause on stderr, and tells the client nothing of it. */
  public static Failure internal(Throwable cause) {
    cause.printStackTrace();
    return new Failure("internal error");
  }
}
