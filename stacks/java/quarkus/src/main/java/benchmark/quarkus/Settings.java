package benchmark.quarkus;

import io.smallrye.config.ConfigMapping;

/** What application.properties says of this server. */
@ConfigMapping(prefix = "benchmark")
interface Settings {
  String server();

  String dbFile();

  /** Whether connections are kept; if not, each request opens one. */
  boolean pooled();
}
