package benchmark;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

/** Everything that is set from outside, by environment variables. */
public record Config(String host, int port, String dbFile) {

  /**
   * Reads the variables.
   *
   * @throws UsageException naming the variable, its value and what it may be
   */
  public static Config read(Environment env) {
    int workers = env.integer("WORKERS", 1, 256);
    if (workers > 1) {
      throw new UsageException(
          "WORKERS is \"%d\": java uses every core by threads: leave it out".formatted(workers));
    }
    int port = env.integer("PORT", 3000, 65535);
    env.oneOf("SQLITE_DRIVER", " on java", "jdbc");
    return new Config(env.text("HOST", "0.0.0.0"), port, env.text("DB_FILE", "data.db"));
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
}
