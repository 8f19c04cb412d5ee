package benchmark;

/** The body of every error answer. */
public record Failure(String error) {

  /** Prints the cause on stderr and does not send it to the client. */
  public static Failure internal(Throwable cause) {
    cause.printStackTrace();
    return new Failure("internal error");
  }
}
