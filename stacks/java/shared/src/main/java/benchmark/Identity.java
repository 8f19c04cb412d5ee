package benchmark;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** The answer to {@code GET /}: what this server is and what it has used. */
public record Identity(
    String server,
    Named runtime,
    Named framework,
    Driver driver,
    int workers,
    long pid,
    double uptimeSeconds,
    long cpuUs,
    long rssBytes) {

  public record Named(String name, String version) {}

  public record Driver(String name, String sqlite) {}

  /** Asks the system what this process has used so far. */
  public static Identity now(String server, Named framework, Database database) {
    OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    return new Identity(
        server,
        new Named("java", System.getProperty("java.version")),
        framework,
        new Driver("jdbc", database.sqliteVersion()),
        1,
        ProcessHandle.current().pid(),
        ManagementFactory.getRuntimeMXBean().getUptime() / 1e3,
        system.getProcessCpuTime() / 1_000,
        residentBytes());
  }

  /** Without /proc: the heap alone. */
  private static long residentBytes() {
    Path status = Path.of("/proc/self/status");
    if (!Files.exists(status)) {
      return Runtime.getRuntime().totalMemory();
    }
    try {
      return Files.readAllLines(status).stream()
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
          .sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
