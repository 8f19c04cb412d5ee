package benchmark.spring;

import benchmark.BadRequest;
import benchmark.Failure;
import benchmark.HttpDate;
import benchmark.UsageException;
import benchmark.spring.content.Refusal;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.ResponseEntity.BodyBuilder;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.reactive.accept.RequestedContentTypeResolverBuilder;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.server.MethodNotAllowedException;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;
import reactor.netty.channel.AbortedException;

/** What all answers have in common, and the answers to what goes wrong. */
@RestControllerAdvice
class Answers implements WebFluxConfigurer {

  /** Each route has one type of answer, whatever a client would accept. */
  @Override
  public void configureContentTypeResolver(RequestedContentTypeResolverBuilder builder) {
    builder.fixedResolver(MediaType.ALL);
  }

  @Bean
  WebFilter addDate() {
    return (exchange, chain) -> {
      exchange.getResponse().getHeaders().set(HttpHeaders.DATE, HttpDate.now());
      return chain.filter(exchange);
    };
  }

  /** No route has the path, or none the method, or the content-type cannot be read. */
  @ExceptionHandler
  ResponseEntity<Failure> refused(ResponseStatusException e) {
    if (e.getStatusCode() == HttpStatus.NOT_FOUND || e instanceof MethodNotAllowedException) {
      return refused(Refusal.NOT_FOUND);
    }
    if (e.getStatusCode() == HttpStatus.UNSUPPORTED_MEDIA_TYPE) {
      return refused(Refusal.NOT_TYPED);
    }
    return ResponseEntity.status(e.getStatusCode()).body(new Failure(e.getReason()));
  }

  @ExceptionHandler
  ResponseEntity<Failure> refused(Refusal e) {
    BodyBuilder answer = ResponseEntity.status(e.status());
    if (e == Refusal.UNAVAILABLE) {
      answer.header(HttpHeaders.RETRY_AFTER, "1");
    }
    return answer.body(new Failure(e.getMessage()));
  }

  /** Of a store that is opened when it is first used. */
  @ExceptionHandler
  ResponseEntity<Failure> unavailable(UsageException e) {
    System.err.println(e.getMessage());
    return refused(Refusal.UNAVAILABLE);
  }

  @ExceptionHandler
  @ResponseStatus(HttpStatus.BAD_REQUEST)
  Failure badRequest(BadRequest e) {
    return new Failure(e.getMessage());
  }

  /** The client has gone: there is nobody to answer, and nothing has broken. */
  @ExceptionHandler(AbortedException.class)
  Mono<Void> gone() {
    return Mono.empty();
  }

  @ExceptionHandler
  @ResponseStatus(HttpStatus.INTERNAL_SERVER_ERROR)
  Failure internal(Exception e) {
    return Failure.internal(e);
  }
}
