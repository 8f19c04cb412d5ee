import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Which cores the servers and which the load generator run on; null where they cannot be kept apart. */
export interface Cores {
  readonly server: string;
  readonly generator: string;
}

/** Read before a session moves this process to the generator's cores, so that the next session has all of them as well. */
const AT_START = coresOf("self");

/**
 * The first half of the cores that this process may use is for the server, the rest for the generator.
 * Null on one core, and where there is no taskset (it is part of every Linux, and of Linux only).
 */
export function splitCores(): Cores | null {
  if (process.platform !== "linux" || spawnSync("taskset", ["--version"]).status !== 0) return null;
  const cores = parseCpuList(AT_START ?? "");
  if (cores.length < 2) return null;
  const half = Math.floor(cores.length / 2);
  return { server: cores.slice(0, half).join(","), generator: cores.slice(half).join(",") };
}

/** `0-2,5` -> [0, 1, 2, 5]; the format of cpuset(7). */
export function parseCpuList(text: string): number[] {
  return text.split(",").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

/** @returns the cores that a process may use, as the kernel lists them; null for one that has ended. */
export function coresOf(pid: number | "self"): string | null {
  try {
    return /^Cpus_allowed_list:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? null;
  } catch {
    return null;
  }
}

/** Moves all threads that a process has; those that they start later inherit it. */
export function moveTo(cores: string, pid: number): void {
  spawnSync("taskset", ["-a", "-p", "-c", cores, String(pid)]);
}

/** Prefixes a command so that it runs on `cores` only. */
export function pinned(cores: string | undefined, command: readonly string[]): [string, ...string[]] {
  return (cores === undefined ? [...command] : ["taskset", "-c", cores, ...command]) as [string, ...string[]];
}
