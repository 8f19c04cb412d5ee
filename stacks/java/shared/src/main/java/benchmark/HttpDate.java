package benchmark;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * The value of the Date header, which both frameworks leave to the application. It is made once a
 * second, as node:http, Bun and net/http do.
 */
public final class HttpDate {
  private static final DateTimeFormatter IMF_FIXDATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
          .withZone(ZoneOffset.UTC);

  private static volatile Second last = Second.of(0);

  private HttpDate() {}

  public static String now() {
    long second = System.currentTimeMillis() / 1_000;
    Second known = last;
    if (known.second != second) {
      known = Second.of(second);
      last = known;
    }
    return known.text;
  }

  private record Second(long second, String text) {
    static Second of(long second) {
      return new Second(second, IMF_FIXDATE.format(Instant.ofEpochSecond(second)));
    }
  }
}
