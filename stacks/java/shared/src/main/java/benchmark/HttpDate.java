package benchmark;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * The value of the Date header, which both frameworks leave to the application; made once a second,
 * as node:http, Bun and net/http do.
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
