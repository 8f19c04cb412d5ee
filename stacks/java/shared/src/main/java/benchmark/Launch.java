package benchmark;

import java.util.List;
import java.util.function.Supplier;
import sun.misc.Signal;

/** What every server does before its framework is loaded, and when it is told to stop. */
public record Launch(Config config, Database database) {
  /** Long enough to read what had arrived when the signal came. */
  private static final long READ_MS = 100;

  /** How long in-flight requests may take to end after that. */
  private static final long GRACE_MS = 4_400;

  /** Tries what the environment names. A mistake is one line on stderr and exit 1. */
  public static Launch orExit() {
    return orExit(
        () -> {
          Config config = Config.read(new Environment(System.getenv()));
          Database database = Database.open(config.dbFile());
          config.claim();
          endOnSignals();
          return new Launch(config, database);
        });
  }

  /** Tries what else may be a mistake. */
  public static <T> T orExit(Supplier<T> attempt) {
    try {
      return attempt.get();
    } catch (UsageException mistake) {
      System.err.println(mistake.getMessage());
      System.exit(1);
      throw mistake; // is not reached
    }
  }

  /**
   * Makes SIGTERM and SIGINT end the process with 0, where Java would end it with 143. The shutdown
   * hooks of the framework answer what is in flight.
   */
  private static void endOnSignals() {
    for (String name : List.of("TERM", "INT")) {
      Signal.handle(new Signal(name), signal -> end());
    }
  }

  private static void end() {
    Thread exit = new Thread(() -> System.exit(0));
    try {
      Thread.sleep(READ_MS);
      exit.start();
      exit.join(GRACE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(0);
  }
}
