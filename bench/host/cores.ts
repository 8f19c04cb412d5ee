import { spawnSync } from "node:child_process";
import { coresOf, text } from "./proc.ts";

/** Separate cores for the servers and the load generator. */
export interface Cores {
  readonly server: string;
  readonly generator: string;
}

/** Read before a session moves this process to the generator's cores, so that the next session has all of them as well. */
const AT_START = coresOf("self");

/** @returns null on one core, and without taskset (util-linux). */
export function splitCores(): Cores | null {
  if (spawnSync("taskset", ["--version"]).status !== 0) return null;
  const siblings = (core: number) => text(`/sys/devices/system/cpu/cpu${core}/topology/thread_siblings_list`).trim();
  return halves(parseCpuList(AT_START ?? ""), siblings);
}

/**
 * The first half of the cores for the servers, the rest for the generator. Threads of one core stay on one side, because
 * each slows the other; they are divided only if there is just one core.
 * @param siblings the threads that share a core with the given thread, in the kernel's list format
 */
export function halves(cores: readonly number[], siblings: (core: number) => string): Cores | null {
  if (cores.length < 2) return null;
  const shared = [...Map.groupBy(cores, (core) => siblings(core) || String(core)).values()];
  const units = shared.length > 1 ? shared : cores.map((core) => [core]);
  const half = Math.floor(units.length / 2);
  const list = (side: readonly number[][]) =>
    side
      .flat()
      .sort((a, b) => a - b)
      .join(",");
  return { server: list(units.slice(0, half)), generator: list(units.slice(half)) };
}

/** `0-2,5` -> [0, 1, 2, 5]; the format of cpuset(7). */
export function parseCpuList(text: string): number[] {
  return text.split(",").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

/** Moves all threads of a process to `cores`; threads that they start later inherit this. */
export function moveTo(cores: string, pid: number): void {
  spawnSync("taskset", ["-a", "-p", "-c", cores, String(pid)]);
}

/** Prefixes a command so that it runs on `cores` only. */
export function pinned(cores: string | undefined, command: readonly string[]): [string, ...string[]] {
  return (cores === undefined ? [...command] : ["taskset", "-c", cores, ...command]) as [string, ...string[]];
}
