package benchmark.quarkus;

import benchmark.BadRequest;
import benchmark.Failure;
import benchmark.HttpDate;
import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.core.http.HttpHeaders;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import jakarta.ws.rs.NotAllowedException;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.MediaType;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.RestResponse.ResponseBuilder;
import org.jboss.resteasy.reactive.RestResponse.Status;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;

/** What all answers have in common, and the answers to what goes wrong. */
@Singleton
public class Answers {
  private static final int PRIORITY = 100;

  /** Each route has one type of answer, whatever a client would accept. */
  void prepare(@Observes Filters filters) {
    filters.register(
        context -> {
          context.request().headers().remove(HttpHeaders.ACCEPT);
          context.response().putHeader(HttpHeaders.DATE, HttpDate.now());
          context.next();
        },
        PRIORITY);
  }

  /** Quarkus REST would ignore a slash at the end of a path, and answer OPTIONS by itself. */
  @ServerRequestFilter(preMatching = true)
  public void refuse(ContainerRequestContext context) {
    String path = context.getUriInfo().getPath();
    boolean hasSlash = path.length() > 1 && path.endsWith("/");
    if (hasSlash || context.getMethod().equals("OPTIONS")) {
      throw new NotFoundException();
    }
  }

  @ServerExceptionMapper({NotFoundException.class, NotAllowedException.class})
  public RestResponse<Failure> notFound() {
    return answer(Status.NOT_FOUND, Failure.NOT_FOUND);
  }

  @ServerExceptionMapper
  public RestResponse<Failure> badRequest(BadRequest e) {
    return answer(Status.BAD_REQUEST, new Failure(e.getMessage()));
  }

  @ServerExceptionMapper
  public RestResponse<Failure> internal(Exception e) {
    return answer(Status.INTERNAL_SERVER_ERROR, Failure.internal(e));
  }

  private static RestResponse<Failure> answer(Status status, Failure failure) {
    return ResponseBuilder.create(status, failure).type(MediaType.APPLICATION_JSON_TYPE).build();
  }
}
