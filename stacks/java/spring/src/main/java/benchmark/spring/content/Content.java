package benchmark.spring.content;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonRawValue;

/**
 * As it is stored and answered.
 *
 * @param data any JSON, as text
 * @param createdAt in ISO 8601, UTC
 * @param updatedAt in ISO 8601, UTC
 */
@JsonPropertyOrder({"id", "title", "body", "author", "status", "data", "created_at", "updated_at"})
record Content(
    String id,
    String title,
    String body,
    String author,
    String status,
    @JsonRawValue String data,
    @JsonProperty("created_at") String createdAt,
    @JsonProperty("updated_at") String updatedAt) {

  static Content of(String id, Draft draft, String now) {
    return new Content(
        id, draft.title(), draft.body(), draft.author(), draft.status(), draft.data(), now, now);
  }
}
