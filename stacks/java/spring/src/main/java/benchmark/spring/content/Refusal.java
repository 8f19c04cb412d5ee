package benchmark.spring.content;

import org.springframework.http.HttpStatus;

/** Is answered with its status and message. */
public final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public static final Refusal NOT_FOUND = new Refusal(HttpStatus.NOT_FOUND, "not found");
  public static final Refusal NOT_JSON =
      new Refusal(HttpStatus.BAD_REQUEST, "the body is not valid JSON");
  public static final Refusal TOO_LARGE =
      new Refusal(
          HttpStatus.CONTENT_TOO_LARGE,
          "the body is larger than %d bytes".formatted(BodyReader.MAX_BYTES));
  public static final Refusal NOT_TYPED =
      new Refusal(
          HttpStatus.UNSUPPORTED_MEDIA_TYPE,
          "the body must be of content-type application/json in UTF-8, not compressed");
  public static final Refusal UNAVAILABLE =
      new Refusal(HttpStatus.SERVICE_UNAVAILABLE, "the store cannot be reached");
  public static final Refusal FULL =
      new Refusal(HttpStatus.INSUFFICIENT_STORAGE, "the store is full");

  private final HttpStatus status;

  Refusal(HttpStatus status, String message) {
    super(message, null, false, false);
    this.status = status;
  }

  static Refusal conflict(String id) {
    return new Refusal(HttpStatus.CONFLICT, "there is a content %s already".formatted(id));
  }

  static Refusal invalid(String message) {
    return new Refusal(HttpStatus.UNPROCESSABLE_CONTENT, message);
  }

  public HttpStatus status() {
    return status;
  }
}
