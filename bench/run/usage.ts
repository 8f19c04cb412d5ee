import { readdirSync, readFileSync } from "node:fs";
import { type Cores, coresOf, parseCpuList } from "../host/cores.ts";
import type { Load } from "../load/fortio.ts";
import type { Helpers, Target } from "./targets/target.ts";

/** What a server used during a slice; null where it cannot be seen. */
export interface Usage {
  readonly cpuUsPerRequest: number | null;
  /**
   * CPU time of its busiest thread ÷ time, or of all its threads ÷ time and the cores they may use, whichever is more: 1
   * is a server at its limit. From a server that only says its total: that ÷ time and workers.
   */
  readonly utilization: number | null;
  /** Of `cpuUsPerRequest`, what its database and its pooler had; null where it has none of its own. */
  readonly databaseUsPerRequest: number | null;
  readonly poolerUsPerRequest: number | null;
  /** Memory of its database, what the processes share counted once (Linux: Pss). */
  readonly databaseBytes: number | null;
  /** Of the server alone. */
  readonly rssBytes: number | null;
  /** Most resident memory since it was started. */
  readonly peakRssBytes: number | null;
  /** Part of the slice in which a CPU quota kept it from running. */
  readonly throttled: number | null;
  /** CPU time that the kernel spent for it, of `cpuUsPerRequest`; page faults and context switches. */
  readonly kernelUsPerRequest: number | null;
  readonly faultsPerRequest: number | null;
  readonly switchesPerRequest: number | null;
}

const UNSEEN = {
  databaseUsPerRequest: null,
  poolerUsPerRequest: null,
  databaseBytes: null,
  kernelUsPerRequest: null,
  faultsPerRequest: null,
  switchesPerRequest: null,
};

/** Between readings; a slice begins and ends between two of them, where the CPU time is interpolated. */
const READ_EVERY_MS = 20;

/**
 * Watches one target during a slice. A process of this machine is read from outside (proc_pid_schedstat: nanoseconds
 * that each thread ran), of any other its engine is asked, or itself at `GET /`, before and after.
 * @returns a function that ends the watch.
 */
export async function watch(target: Target): Promise<(load: Load) => Promise<Usage>> {
  if (target.pid !== null) return watchProcess(target.pid, target.helpers);
  const before = await target.read();
  return async (load) => {
    const after = before && (await target.read());
    // A server that was restarted meanwhile counts from 0 again.
    const cpuUs = after && after.cpuUs >= before.cpuUs ? after.cpuUs - before.cpuUs : null;
    const throttledMs =
      after?.throttledMs === null || before === null ? null : (after?.throttledMs ?? 0) - (before.throttledMs ?? 0);
    return {
      // Each connection has asked once before the slice.
      cpuUsPerRequest: cpuUs && cpuUs / (load.requests + load.sockets),
      utilization: after && cpuUs && cpuUs / 1e6 / load.seconds / after.cores,
      rssBytes: after?.rssBytes ?? null,
      peakRssBytes: null,
      throttled: throttledMs && throttledMs / 1e3 / load.seconds,
      ...UNSEEN,
    };
  };
}

function watchProcess(root: number, helpers: Helpers): (load: Load) => Promise<Usage> {
  const pids = family(root);
  const [databases, poolers] = [familyOf(helpers.database), familyOf(helpers.pooler)];
  const all = [...pids, ...databases, ...poolers];
  const helping = { database: new Set<string>(), pooler: new Set<string>() };
  const throttledBefore = throttledMs(root);
  const before = countersOf(all);
  const readings: { at: number; threads: Map<string, number> }[] = [];
  const read = () => {
    // A thread that has ended keeps what it had used.
    const before = [...(readings.at(-1)?.threads ?? [])].filter(([thread]) => !isHelping(thread));
    const threads = new Map([...before, ...threadTimes(pids)]);
    for (const helper of ["database", "pooler"] as const) {
      for (const [thread, ms] of timesOf(helpers[helper])) {
        threads.set(thread, ms);
        helping[helper].add(thread);
      }
    }
    readings.push({ at: Date.now(), threads });
  };
  const isHelping = (thread: string) => helping.database.has(thread) || helping.pooler.has(thread);
  read();
  const timer = setInterval(read, READ_EVERY_MS);
  return async ({ startedAt, seconds, requests }) => {
    clearInterval(timer);
    read();
    const after = countersOf(all);
    // Nothing is known of a process or thread that has ended meanwhile.
    const during = (counter: "userTicks" | "kernelTicks" | "faults") =>
      total(
        [...after.processes].map(([pid, now]) =>
          Math.max(0, now[counter] - (before.processes.get(pid)?.[counter] ?? 0)),
        ),
      );
    const switches = [...after.switches].map(([thread, n]) => n - (before.switches.get(thread) ?? 0));
    const ranAt = (thread: string, moment: number): number => {
      const last = readings.length - 1;
      const i = readings.findIndex(({ at }, i) => i === last || (i > 0 && at >= moment));
      const [a, b] = [readings[i - 1], readings[i]];
      if (!a || !b) return Number.NaN;
      const [from, to] = [a.threads.get(thread) ?? 0, b.threads.get(thread) ?? 0];
      return from + ((to - from) * (moment - a.at)) / (b.at - a.at || 1);
    };
    // What a helper's process had before it ended is now what ended processes had.
    const ran = new Map(
      [...new Set(readings.flatMap(({ threads }) => [...threads.keys()]))].map((thread) => [
        thread,
        ranAt(thread, startedAt + seconds * 1e3) - ranAt(thread, startedAt),
      ]),
    );
    const ranMs = [...ran.values()];
    const usPerRequest = (ms: readonly number[]) => (requests > 0 ? (total(ms) * 1e3) / requests : null);
    const cpuUsPerRequest = usPerRequest(ranMs);
    const partOf = (helper: keyof typeof helping) =>
      helpers[helper] === null ? null : usPerRequest([...helping[helper]].map((thread) => ran.get(thread) ?? 0));
    const [first, last] = [readings[0], readings.at(-1)].map((one) => total(one?.threads.values() ?? []));
    const watchedMs = (last as number) - (first as number);
    // Counters are of the whole watch, so they are brought to the slice by CPU time.
    const perRequest = (count: number) => cpuUsPerRequest && (count * cpuUsPerRequest) / (watchedMs * 1e3);
    const ticks = during("kernelTicks") + during("userTicks");
    return {
      cpuUsPerRequest,
      databaseUsPerRequest: partOf("database"),
      poolerUsPerRequest: partOf("pooler"),
      databaseBytes: helpers.database === null ? null : memoryOf(family(helpers.database), "Pss"),
      utilization: Math.max(...ranMs, total(ranMs) / parseCpuList(coresOf(root) ?? "0").length) / 1e3 / seconds,
      rssBytes: memoryOf(pids, "VmRSS"),
      peakRssBytes: memoryOf(pids, "VmHWM"),
      throttled: (throttledMs(root) - throttledBefore) / 1e3 / seconds,
      kernelUsPerRequest: cpuUsPerRequest && (cpuUsPerRequest * during("kernelTicks")) / (ticks || 1),
      faultsPerRequest: perRequest(during("faults")),
      switchesPerRequest: perRequest(total(switches)),
    };
  };
}

/** Of each process, and of each thread. */
interface Counters {
  readonly processes: ReadonlyMap<
    number,
    { readonly userTicks: number; readonly kernelTicks: number; readonly faults: number }
  >;
  readonly switches: ReadonlyMap<string, number>;
}

/** What processes have used since their start (proc_pid_stat: fields 10, 12, 14 and 15), switches of the threads that there are. */
function countersOf(pids: readonly number[]): Counters {
  const processes = pids.map((pid) => {
    const fields = statOf(pid);
    const at = (place: number) => fields[place - 3] || 0;
    return [pid, { userTicks: at(14), kernelTicks: at(15), faults: at(10) + at(12) }] as const;
  });
  const switches = new Map(threadFiles(pids).map(([thread, of]) => [thread, Number(of[2] ?? 0)]));
  return { processes: new Map(processes), switches };
}

/** What cores have done since the machine started, ms; kept from running by the host is not busy. Linux; else 0. */
export function readCores(cores: readonly number[]): { readonly busyMs: number; readonly stolenMs: number } {
  const wanted = new Set(cores.map((core) => `cpu${core}`));
  const lines = text("/proc/stat")
    .split("\n")
    .map((line) => line.split(" "));
  const of = lines
    .filter(([name]) => wanted.has(name ?? ""))
    .map((line) => line.slice(1).map((ticks) => Number(ticks) * TICK_MS));
  const sum = (...places: number[]) => total(of.flatMap((ms) => places.map((place) => ms[place] ?? 0)));
  // user, nice, system, irq, softirq; idle, iowait and what guests had are left out.
  return { busyMs: sum(0, 1, 2, 5, 6), stolenMs: sum(7) };
}

/** The unit of /proc: USER_HZ, the same on every Linux machine that Bun runs on. */
const TICK_MS = 10;
/** What two looks at busy time may be off by: of a slice of 0.2 s no tenth that was not there. */
const UNSURE_MS = 2 * TICK_MS;

/**
 * Watches the cores of a run while they are loaded.
 * @param servers that are up, loaded or not
 * @returns a function of the generators' CPU time ÷ time, null where that cannot be seen; it ends the watch and says which
 *   part of the time the host or other processes had the cores: of the servers' or of the generators' cores, whichever
 *   is more
 */
export function watchCores(
  cores: Cores,
  servers: readonly Pick<Target, "pid" | "helpers" | "startupMs">[],
): (generatorCpu: number | null) => number {
  const oursMs = () => {
    const helping = servers.flatMap(({ helpers }) => [helpers.database, helpers.pooler].map(timesOf));
    const serving = threadTimes(servers.flatMap(({ pid }) => familyOf(pid)));
    return total([serving, ...helping].flatMap((times) => [...times.values()]));
  };
  const since = performance.now();
  const ourUsage = process.cpuUsage();
  const serversBefore = oursMs();
  const sides = [cores.server, cores.generator].map(parseCpuList).map((of) => ({ of, before: readCores(of) }));
  return (generatorCpu) => {
    const after = sides.map(({ of }) => readCores(of));
    const spentMs = performance.now() - since;
    const serversAfter = oursMs();
    const { user, system } = process.cpuUsage(ourUsage);
    // A server whose CPU time is not seen, or that was not put on its core here, may be on any of these: then nothing can be said of others.
    const ours =
      generatorCpu === null || servers.some(({ pid, startupMs }) => pid === null || startupMs === null)
        ? sides.map(() => Number.POSITIVE_INFINITY)
        : [serversAfter - serversBefore, generatorCpu * spentMs + (user + system) / 1e3];
    const taken = sides.map(({ of, before }, i) => {
      const { busyMs, stolenMs } = after[i] as (typeof after)[0];
      const others = busyMs - before.busyMs - (ours[i] as number);
      return (stolenMs - before.stolenMs + Math.max(0, others - UNSURE_MS)) / spentMs / of.length;
    });
    return Math.max(...taken);
  };
}

/** @returns a process and its descendants. */
export function family(pid: number): number[] {
  const children = list(`/proc/${pid}/task`).flatMap((task) =>
    text(`/proc/${pid}/task/${task}/children`).split(" ").filter(Boolean),
  );
  return [pid, ...children.flatMap((child) => family(Number(child)))];
}

const familyOf = (pid: number | null): number[] => (pid === null ? [] : family(pid));

/**
 * @returns thread -> milliseconds it has run, of a process and its descendants, and of each of them what children of it had
 *   run that have ended (proc_pid_stat: fields 16 and 17), as Postgres has a process for each connection
 */
function timesOf(root: number | null): Map<string, number> {
  const pids = familyOf(root);
  const ended = pids.map((pid): [string, number] => {
    const fields = statOf(pid);
    return [`${pid}, ended`, ((fields[16 - 3] ?? 0) + (fields[17 - 3] ?? 0)) * TICK_MS];
  });
  return new Map([...ended, ...threadTimes(pids)]);
}

/** @returns fields of proc_pid_stat, from the third. */
const statOf = (pid: number): number[] =>
  text(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, "")
    .split(" ")
    .map(Number);

/** @returns thread -> milliseconds it has run, of those that did not end during the look. */
export function threadTimes(pids: readonly number[]): Map<string, number> {
  return new Map(threadFiles(pids).map(([task, [ranNs]]) => [task, Number(ranNs) / 1e6]));
}

/** proc_pid_schedstat of each thread: nanoseconds that it ran and that it waited to, and how often it ran. */
function threadFiles(pids: readonly number[]): [task: string, schedstat: string[]][] {
  return pids.flatMap((pid) =>
    list(`/proc/${pid}/task`).flatMap((task): [string, string[]][] => {
      const schedstat = text(`/proc/${pid}/task/${task}/schedstat`).trim().split(" ");
      return schedstat[0] ? [[task, schedstat]] : [];
    }),
  );
}

/** @returns memory of processes: resident, now or at most since their start, or what they share counted once. */
export function memoryOf(pids: readonly number[], field: "VmRSS" | "VmHWM" | "Pss"): number {
  const size = new RegExp(`^${field}:\\s*(\\d+) kB`, "m");
  const file = field === "Pss" ? "smaps_rollup" : "status";
  return total(pids.map((pid) => Number(size.exec(text(`/proc/${pid}/${file}`))?.[1] ?? 0) * 1024));
}

/** @returns milliseconds that a process's control group was kept from running by its CPU quota (cgroup v2 or v1). */
function throttledMs(pid: number): number {
  const groups = text(`/proc/${pid}/cgroup`);
  const v2 = /^0::(.*)$/m.exec(groups)?.[1];
  const v1 = /^\d+:(?:[^:]*,)?cpu(?:,[^:]*)?:(.*)$/m.exec(groups)?.[1];
  const stat = text(`/sys/fs/cgroup${v2}/cpu.stat`) || text(`/sys/fs/cgroup/cpu${v1}/cpu.stat`);
  const us = /^throttled_usec (\d+)/m.exec(stat)?.[1];
  const ns = /^throttled_time (\d+)/m.exec(stat)?.[1];
  return us ? Number(us) / 1e3 : Number(ns ?? 0) / 1e6;
}

const total = (values: Iterable<number>): number => [...values].reduce((sum, value) => sum + value, 0);

/** Threads and processes may end between two looks: what is gone has used nothing more. */
function text(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
