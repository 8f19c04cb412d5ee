package benchmark;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** The answer to {@code GET /}: versions of this server, its CPU time and its memory. */
public final class Identity {
  private Identity() {}

  /** Reads the CPU time and the memory of this process. */
  public static Map<String, Object> now(
      String server, String framework, String version, Database database) {
    OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    return Map.of(
        "server", server,
        "runtime", Map.of("name", "java", "version", System.getProperty("java.version")),
        "framework", Map.of("name", framework, "version", version),
        "driver", Map.of("name", "jdbc", "sqlite", database.sqliteVersion()),
        "workers", 1,
        "pid", ProcessHandle.current().pid(),
        "uptimeSeconds", ManagementFactory.getRuntimeMXBean().getUptime() / 1e3,
        "cpuUs", system.getProcessCpuTime() / 1_000,
        "rssBytes", residentBytes());
  }

  private static long residentBytes() {
    try {
      return Files.readAllLines(Path.of("/proc/self/status")).stream()
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
          .sum();
    } catch (IOException e) {
      return Runtime.getRuntime().totalMemory(); // without /proc: the heap alone
    }
  }
}
