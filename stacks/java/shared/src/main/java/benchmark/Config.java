package benchmark;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Map;

/** The environment variables of every server. */
record Config(String host, int port, String dbFile) {

  /**
   * Reads them.
   *
   * @throws UsageException if one has a value that it may not have
   */
  static Config read(Map<String, String> env) {
    int workers = integer(env, "WORKERS", 1, 256);
    if (workers > 1) {
      throw new UsageException(
          "WORKERS is \"%d\": java uses every core by threads: leave it out".formatted(workers));
    }
    String driver = env.getOrDefault("SQLITE_DRIVER", "jdbc");
    if (!driver.equals("jdbc")) {
      throw new UsageException(
          "SQLITE_DRIVER is \"%s\": on java set it to one of jdbc".formatted(driver));
    }
    return new Config(
        env.getOrDefault("HOST", "0.0.0.0"),
        integer(env, "PORT", 3000, 65535),
        env.getOrDefault("DB_FILE", "data.db"));
  }

  private static int integer(Map<String, String> env, String name, int otherwise, int most) {
    String text = env.getOrDefault(name, String.valueOf(otherwise));
    int value = text.matches("[0-9]{1,9}") ? Integer.parseInt(text) : 0;
    if (value < 1 || value > most) {
      throw new UsageException(
          "%s is \"%s\": set it to an integer from 1 to %d".formatted(name, text, most));
    }
    return value;
  }

  /**
   * Listens for a moment, because a framework that cannot listen says so in many lines.
   *
   * @throws UsageException if the port or the address is not free
   */
  void tryToListen() {
    try (ServerSocket probe = new ServerSocket()) {
      probe.bind(new InetSocketAddress(host, port));
    } catch (IOException e) {
      boolean taken = String.valueOf(e.getMessage()).contains("in use");
      String reason = taken ? "is taken" : "cannot be listened on (%s)".formatted(e.getMessage());
      throw new UsageException(
          "%s:%d %s: choose another with PORT or HOST".formatted(host, port, reason));
    }
  }
}
