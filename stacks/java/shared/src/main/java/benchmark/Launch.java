package benchmark;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Map;
import sun.misc.Signal;

/** Both servers run this before they start their framework. */
public final class Launch {
  /** Long enough for the server to read the requests that came before the signal. */
  private static final long READ_MS = 100;

  private Launch() {}

  /** Checks the configuration. If it is wrong, prints one line on stderr and exits 1. */
  public static void orExit() {
    try {
      check(System.getenv());
    } catch (UsageException mistake) {
      System.err.println(mistake.getMessage());
      System.exit(1);
    }
    // Java would exit with 143. The framework's shutdown hooks answer the requests in flight.
    List.of("TERM", "INT").forEach(name -> Signal.handle(new Signal(name), signal -> exit()));
  }

  private static void check(Map<String, String> env) {
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
    int port = integer(env, "PORT", 3000, 65535);
    Database.open(env.getOrDefault("DB_FILE", "data.db"));
    tryToListen(env.getOrDefault("HOST", "0.0.0.0"), port);
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

  /** Listens for a moment, because a framework that cannot listen prints many lines. */
  private static void tryToListen(String host, int port) {
    try (ServerSocket probe = new ServerSocket()) {
      probe.bind(new InetSocketAddress(host, port));
    } catch (IOException e) {
      boolean taken = String.valueOf(e.getMessage()).contains("in use");
      String reason = taken ? "is taken" : "cannot be listened on (%s)".formatted(e.getMessage());
      throw new UsageException(
          "%s:%d %s: choose another with PORT or HOST".formatted(host, port, reason));
    }
  }

  private static void exit() {
    try {
      Thread.sleep(READ_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    System.exit(0);
  }
}
