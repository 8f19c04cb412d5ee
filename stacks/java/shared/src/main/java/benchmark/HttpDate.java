package benchmark;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * The value of the Date header, because neither framework sends one. It is made once a second, as
 * in node:http, Bun and net/http.
 */
public final class HttpDate {
  private static final DateTimeFormatter FORMAT =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
          .withZone(ZoneOffset.UTC);

  private static volatile Second last = new Second(0, "");

  private record Second(long number, String text) {}

  private HttpDate() {}

  public static String now() {
    long number = System.currentTimeMillis() / 1_000;
    Second second = last;
    if (second.number != number) {
      second = new Second(number, FORMAT.format(Instant.ofEpochSecond(number)));
      last = second;
    }
    return second.text;
  }
}
