/** CPU time of processes of this machine, to the nanosecond, read while they are idle. */
import { dlopen, ptr } from "bun:ffi";
import { membersOf, usedBy } from "./group.ts";
import { family, isBusy, statOf } from "./proc.ts";

/** Reads the CPU time of a server or a database. */
export interface Meter {
  /** CPU time of all its processes, including ended ones, µs since an arbitrary moment. */
  cpuUs(): number;
  /** Whether any of its threads runs. Read `cpuUs` when none does, because the kernel updates the clock when a process stops. */
  isBusy(): boolean;
  pids(): number[];
}

/** A server's own count of its CPU time, and the process that counts: another process begins at 0. */
export interface Count {
  readonly cpuUs: number;
  readonly pid?: number | undefined;
}

/**
 * @returns CPU time between two readings of one counter, µs. Null if it is not known: a reading is missing, another process
 *   counts, or the counter fell, because the server restarted or one of its processes is gone.
 */
export function usedBetween(before: Count | null, after: Count | null): number | null {
  if (before === null || after === null || before.pid !== after.pid) return null;
  const used = after.cpuUs - before.cpuUs;
  return used >= 0 ? used : null; // not for NaN
}

/** @param root a process whose descendants count as well @param group the folder of the control group that holds just them */
export function meterOf(root: number, group: string | null): Meter {
  if (group !== null && usedBy(group) !== null) {
    const pids = () => membersOf(group);
    return { cpuUs: () => usedBy(group) ?? Number.NaN, isBusy: () => isBusy(pids()), pids };
  }
  const pids = () => family(root);
  return {
    // When a child has ended, its CPU time is a field of its parent, in ticks.
    cpuUs: () => pids().reduce((sum, pid) => sum + clockUs(pid) + (statOf(pid)?.endedMs ?? 0) * 1e3, 0),
    isBusy: () => isBusy(pids()),
    pids,
  };
}

export const together = (meters: readonly Meter[]): Meter => ({
  cpuUs: () => meters.reduce((sum, meter) => sum + meter.cpuUs(), 0),
  isBusy: () => meters.some((meter) => meter.isBusy()),
  pids: () => meters.flatMap((meter) => meter.pids()),
});

const time = new BigInt64Array(2);
const libc = openLibc();

function openLibc() {
  const symbols = { clock_gettime: { args: ["i32", "ptr"], returns: "i32" } } as const;
  for (const name of ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"]) {
    try {
      return dlopen(name, symbols).symbols;
    } catch {
      // another C library
    }
  }
  return null;
}

/** CPU time of a process, threads that have ended included: its CPU clock (clock_gettime(2), CPUCLOCK_SCHED), else ticks. */
function clockUs(pid: number): number {
  if (libc?.clock_gettime((~pid << 3) | 2, ptr(time)) === 0) return Number(time[0]) * 1e6 + Number(time[1]) / 1e3;
  const stat = statOf(pid);
  return stat ? (stat.userMs + stat.kernelMs) * 1e3 : 0;
}
