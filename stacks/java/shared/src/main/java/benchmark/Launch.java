package benchmark;

import java.util.List;
import sun.misc.Signal;

/** What both frameworks do before they start. */
public final class Launch {
  /** Long enough for the server to read the requests that came before the signal. */
  private static final long READ_MS = 100;

  private Launch() {}

  /** Checks the configuration. A mistake is one line on stderr and exit 1. */
  public static void orExit() {
    try {
      Config config = Config.read(System.getenv());
      Database.open(config.dbFile());
      config.tryToListen();
    } catch (UsageException mistake) {
      System.err.println(mistake.getMessage());
      System.exit(1);
    }
    // Java would exit with 143. The framework's shutdown hooks answer the requests in flight.
    List.of("TERM", "INT").forEach(name -> Signal.handle(new Signal(name), signal -> exit()));
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
