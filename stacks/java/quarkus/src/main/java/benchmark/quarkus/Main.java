package benchmark.quarkus;

import benchmark.Launch;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.annotations.QuarkusMain;

/** Starts java-quarkus or java-quarkus-v2, as quarkus.profile says. */
@QuarkusMain
public class Main {
  public static void main(String... args) {
    Launch.orExit();
    Quarkus.run(args);
  }
}
