package benchmark;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Map;

/** Everything that is set from outside, by environment variables. */
public record Config(String host, int port, String dbFile) {

  /**
   * Reads the variables.
   *
   * @throws UsageException naming the variable, its value and what it may be
   */
  public static Config read(Map<String, String> env) {
    if (integer(env, "WORKERS", 1, 256) > 1) {
      throw new UsageException(
          "WORKERS is \"%s\": java uses every core by threads: leave it out"
              .formatted(env.get("WORKERS")));
    }
    int port = integer(env, "PORT", 3000, 65535);
    String driver = text(env, "SQLITE_DRIVER", "jdbc");
    if (!driver.equals("jdbc")) {
      throw new UsageException(
          "SQLITE_DRIVER is \"%s\": on java set it to one of jdbc".formatted(driver));
    }
    return new Config(text(env, "HOST", "0.0.0.0"), port, text(env, "DB_FILE", "data.db"));
  }

  /**
   * Listens for a moment, since a framework that cannot would say so in many lines.
   *
   * @throws UsageException where the port or address cannot be had
   */
  public void claim() {
    try (ServerSocket probe = new ServerSocket()) {
      probe.bind(new InetSocketAddress(host, port));
    } catch (IOException e) {
      boolean taken = String.valueOf(e.getMessage()).contains("in use");
      String reason = taken ? "is taken" : "cannot be listened on (%s)".formatted(e.getMessage());
      throw new UsageException(
          "%s:%d %s: choose another with PORT or HOST".formatted(host, port, reason));
    }
  }

  private static String text(Map<String, String> env, String name, String otherwise) {
    String value = env.getOrDefault(name, "");
    return value.isEmpty() ? otherwise : value;
  }

  private static int integer(Map<String, String> env, String name, int otherwise, int most) {
    String text = text(env, name, String.valueOf(otherwise));
    int value = text.matches("[0-9]{1,9}") ? Integer.parseInt(text) : 0;
    if (value < 1 || value > most) {
      throw new UsageException(
          "%s is \"%s\": set it to an integer from 1 to %d".formatted(name, text, most));
    }
    return value;
  }
}
