package benchmark.spring.content;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.springframework.core.ResolvableType;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ReactiveHttpInputMessage;
import org.springframework.http.codec.HttpMessageReader;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Reads the bodies of requests, or fails with a {@link Refusal}. */
final class BodyReader implements HttpMessageReader<Body> {
  static final int MAX_BYTES = 102_400;

  /** Without a charset that some would decode, and others take for UTF-8. */
  private static final Pattern JSON_TYPE =
      Pattern.compile(
          "application/json\\s*(;\\s*charset=\"?utf-8\"?\\s*)?", Pattern.CASE_INSENSITIVE);

  private static final String BYTE_ORDER_MARK = "\ufeff";

  @Override
  public List<MediaType> getReadableMediaTypes() {
    return List.of(MediaType.APPLICATION_JSON);
  }

  /** Whatever the type is said to be: {@link #readMono} refuses in words of its own. */
  @Override
  public boolean canRead(ResolvableType elementType, MediaType mediaType) {
    return elementType.resolve() == Body.class;
  }

  @Override
  public Flux<Body> read(
      ResolvableType elementType, ReactiveHttpInputMessage message, Map<String, Object> hints) {
    return readMono(elementType, message, hints).flux();
  }

  @Override
  public Mono<Body> readMono(
      ResolvableType elementType, ReactiveHttpInputMessage message, Map<String, Object> hints) {
    HttpHeaders headers = message.getHeaders();
    if (!isJson(headers)) {
      return Mono.error(Refusal.NOT_TYPED);
    }
    if (headers.getContentLength() > MAX_BYTES) {
      return Mono.error(Refusal.TOO_LARGE);
    }
    return DataBufferUtils.join(message.getBody(), MAX_BYTES)
        .onErrorMap(DataBufferLimitException.class, e -> Refusal.TOO_LARGE)
        .map(bytes -> new Body(Json.parse(textOf(bytes))))
        .switchIfEmpty(Mono.error(Refusal.NOT_JSON));
  }

  private static boolean isJson(HttpHeaders headers) {
    String type = headers.getFirst(HttpHeaders.CONTENT_TYPE);
    return type != null
        && JSON_TYPE.matcher(type).matches()
        && !headers.containsHeader(HttpHeaders.CONTENT_ENCODING);
  }

  private static String textOf(DataBuffer bytes) {
    String text = bytes.toString(StandardCharsets.UTF_8);
    DataBufferUtils.release(bytes);
    return text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
  }
}
