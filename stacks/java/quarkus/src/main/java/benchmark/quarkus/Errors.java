package benchmark.quarkus;

import benchmark.Failure;
import benchmark.People.BadRequest;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response.Status;
import jakarta.ws.rs.core.Response.StatusType;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.RestResponse.ResponseBuilder;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;

/** Answers errors. */
public class Errors {

  @ServerExceptionMapper
  public RestResponse<Failure> badRequest(BadRequest e) {
    return answer(Status.BAD_REQUEST, new Failure(e.getMessage()));
  }

  /** Quarkus found no route for the path, or none for the method. */
  @ServerExceptionMapper
  public RestResponse<Failure> refused(WebApplicationException e) {
    return answer(e.getResponse().getStatusInfo(), new Failure(e.getMessage()));
  }

  @ServerExceptionMapper
  public RestResponse<Failure> internal(Exception e) {
    return answer(Status.INTERNAL_SERVER_ERROR, Failure.internal(e));
  }

  private static RestResponse<Failure> answer(StatusType status, Failure failure) {
    return ResponseBuilder.create(status, failure).type(MediaType.APPLICATION_JSON_TYPE).build();
  }
}
