package benchmark.spring;

import benchmark.Failure;
import benchmark.People.BadRequest;
import java.util.Objects;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.http.ResponseEntity.BodyBuilder;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.bind.support.WebExchangeBindException;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebInputException;
import reactor.core.publisher.Mono;
import reactor.netty.channel.AbortedException;
import tools.jackson.core.exc.InputCoercionException;
import tools.jackson.databind.DatabindException;

/** Answers errors. */
@RestControllerAdvice
class Errors {

  @ExceptionHandler
  @ResponseStatus(HttpStatus.BAD_REQUEST)
  Failure badRequest(BadRequest e) {
    return new Failure(e.getMessage());
  }

  @ExceptionHandler
  ResponseEntity<Failure> refused(ResponseStatusException e) {
    BodyBuilder answer = ResponseEntity.status(e.getStatusCode()).headers(e.getHeaders());
    if (e.getStatusCode() == HttpStatus.SERVICE_UNAVAILABLE) {
      answer.header(HttpHeaders.RETRY_AFTER, "1");
    }
    String status = e.getStatusCode().toString();
    return answer.body(new Failure(Objects.requireNonNullElse(e.getReason(), status)));
  }

  /** The body is not JSON (400), or its values do not have the types of the record (422). */
  @ExceptionHandler
  ResponseEntity<Failure> unread(ServerWebInputException e) {
    Throwable cause = e.getMostSpecificCause();
    boolean isJson = cause instanceof DatabindException || cause instanceof InputCoercionException;
    return ResponseEntity.status(isJson ? HttpStatus.UNPROCESSABLE_CONTENT : e.getStatusCode())
        .body(new Failure(cause.getMessage()));
  }

  /** The body breaks the constraints of the record. */
  @ExceptionHandler
  @ResponseStatus(HttpStatus.UNPROCESSABLE_CONTENT)
  Failure invalid(WebExchangeBindException e) {
    return new Failure(
        "%s %s".formatted(e.getFieldError().getField(), e.getFieldError().getDefaultMessage()));
  }

  /** The client has closed the connection. */
  @ExceptionHandler(AbortedException.class)
  Mono<Void> aborted() {
    return Mono.empty();
  }

  @ExceptionHandler
  @ResponseStatus(HttpStatus.INTERNAL_SERVER_ERROR)
  Failure internal(Exception e) {
    return Failure.internal(e);
  }
}
