package benchmark.spring.content;

import java.io.IOException;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** What the API is, as openapi.ts has written it. */
@RestController
class DescriptionRoutes {
  private final byte[] openApi;
  private final byte[] docs;

  DescriptionRoutes(
      @Value("classpath:openapi.json") Resource openApi,
      @Value("classpath:docs.html") Resource docs)
      throws IOException {
    this.openApi = openApi.getContentAsByteArray();
    this.docs = docs.getContentAsByteArray();
  }

  @GetMapping(path = "/openapi.json", produces = MediaType.APPLICATION_JSON_VALUE)
  byte[] openApi() {
    return openApi;
  }

  @GetMapping("/docs")
  ResponseEntity<byte[]> docs() {
    return ResponseEntity.ok()
        .header(HttpHeaders.CONTENT_TYPE, "text/html; charset=utf-8")
        .body(docs);
  }
}
