package benchmark.spring.content;

import java.io.IOException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.io.ClassPathResource;
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

  /** Describes transactions as well where there are any. */
  DescriptionRoutes(ObjectProvider<Transactor> transactor) throws IOException {
    String store = transactor.getIfAvailable() == null ? "" : "-postgres";
    openApi = read("openapi%s.json".formatted(store));
    docs = read("docs%s.html".formatted(store));
  }

  private static byte[] read(String name) throws IOException {
    return new ClassPathResource(name).getContentAsByteArray();
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
