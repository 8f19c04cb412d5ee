import { type Cores, parseCpuList } from "../host/cores.ts";
import { throttledMs } from "../host/group.ts";
import { usedBetween } from "../host/meter.ts";
import { coresOf, isCollector, memoryOf, readCores, statOf, switchesOf, TICK_MS, threadTimes } from "../host/proc.ts";
import type { Slice } from "../keep/slices.ts";
import type { Load } from "../load/fortio.ts";
import type { Target } from "./targets/target.ts";
import type { Clocks } from "./turns.ts";

const FIELDS = [
  "cpuUsPerRequest",
  "utilization",
  "databaseBytes",
  "rssBytes",
  "peakRssBytes",
  "kernelUsPerRequest",
  "childUsPerRequest",
  "collectorUsPerRequest",
  "switchesPerRequest",
] as const;

/** What a server used during a slice; null if it cannot be seen. */
export interface Usage extends Pick<Slice, (typeof FIELDS)[number]> {
  /** Part of the slice in which a CPU quota kept it from running. */
  readonly throttled: number | null;
}

const UNSEEN = Object.fromEntries(FIELDS.map((field) => [field, null])) as Readonly<
  Record<(typeof FIELDS)[number], null>
>;

/** Requests of a slice, plus the one that each connection sends before it. */
const asked = ({ requests, sockets }: Load) => requests + sockets;

/**
 * Watches one server during a slice: reads its processes if it can see them, else asks its Docker engine, or the server at `GET /`.
 * @returns a function that ends the watch.
 */
export async function watch({ pid, clocks, read }: Target): Promise<(load: Load) => Promise<Usage>> {
  if (pid !== null && clocks !== null) return watchProcesses(pid, clocks);
  const before = await read();
  return async (load) => {
    const after = before && (await read());
    const cpuUs = usedBetween(before, after);
    const throttledMs =
      after?.throttledMs === null || before === null ? null : (after?.throttledMs ?? 0) - (before.throttledMs ?? 0);
    const cpuUsPerRequest = cpuUs && cpuUs / asked(load);
    return {
      ...UNSEEN,
      cpuUsPerRequest,
      utilization: after && cpuUsPerRequest && (cpuUsPerRequest * load.requests) / 1e6 / load.seconds / after.cores,
      rssBytes: after?.rssBytes ?? null,
      throttled: throttledMs && throttledMs / 1e3 / load.seconds,
    };
  };
}

function watchProcesses(root: number, { all, server, database }: Clocks): (load: Load) => Promise<Usage> {
  const counts = () => {
    const stats = all.pids().flatMap((pid) => statOf(pid) ?? []);
    const sum = (of: (stat: (typeof stats)[0]) => number) => stats.reduce((total, stat) => total + of(stat), 0);
    return {
      cpuUs: all.cpuUs(),
      userMs: sum(({ userMs }) => userMs),
      kernelMs: sum(({ kernelMs }) => kernelMs),
      childMs: sum(({ endedMs }) => endedMs),
      switches: switchesOf(all.pids()),
      throttledMs: throttledMs(root),
    };
  };
  const before = counts();
  const threads = threadTimes(all.pids());
  return async (load) => {
    const after = counts();
    const during = (field: keyof typeof before) => Math.max(0, after[field] - before[field]);
    const perRequest = (count: number) => (asked(load) > 0 ? count / asked(load) : null);
    // Each connection sends one request before the slice; this scales the CPU time to the requests of the slice.
    const part = load.requests / asked(load);
    const ran = [...threadTimes(all.pids())].map(([task, ms]) => ({ task, ms: ms - (threads.get(task) ?? 0) }));
    const collectors = ran.filter(({ task }) => isCollector(task));
    const busiestMs = Math.max(0, ...ran.map(({ ms }) => ms));
    const cores = parseCpuList(coresOf(root) ?? "0").length;
    const cpuUs = usedBetween(before, after);
    const cpuUsPerRequest = cpuUs === null ? null : perRequest(cpuUs);
    return {
      cpuUsPerRequest,
      // The server closes connections after the slice; that CPU time can bring a server at its limit to a little above 1.
      utilization:
        cpuUs === null ? null : Math.min(1, (part * Math.max(busiestMs, cpuUs / 1e3 / cores)) / 1e3 / load.seconds),
      databaseBytes: database && memoryOf(database.pids(), "Pss"),
      rssBytes: memoryOf(server.pids(), "VmRSS"),
      peakRssBytes: memoryOf(server.pids(), "VmHWM"),
      throttled: during("throttledMs") / 1e3 / load.seconds,
      kernelUsPerRequest:
        cpuUsPerRequest && (cpuUsPerRequest * during("kernelMs")) / (during("kernelMs") + during("userMs") || 1),
      childUsPerRequest: perRequest(1e3 * during("childMs")),
      collectorUsPerRequest:
        collectors.length > 0 ? perRequest(1e3 * collectors.reduce((sum, { ms }) => sum + ms, 0)) : null,
      switchesPerRequest: perRequest(during("switches")),
    };
  };
}

/** Possible error of the difference of two busy-time readings: a tenth of a slice of 0.2 s. */
const UNSURE_MS = 2 * TICK_MS;

/**
 * Watches the cores of a run while they are loaded.
 * @param servers all servers that are up, loaded or not
 * @returns a function that ends the watch. It takes the generator's CPU time ÷ elapsed time (null if unknown), and returns
 *   the share of CPU that the host or other processes took: from the servers' or the generator's cores, whichever is more
 */
export function watchCores(cores: Cores, servers: readonly Target[]): (generatorCpu: number | null) => number {
  // If a server's CPU time is unknown, or it was not started on its core here, its work may look like that of other processes.
  const isSeen = servers.every(({ clocks, startupMs }) => clocks !== null && startupMs !== null);
  const read = () => ({ cpuUs: servers.reduce((sum, { clocks }) => sum + (clocks?.all.cpuUs() ?? 0), 0) });
  const since = performance.now();
  const ourUsage = process.cpuUsage();
  const serversBefore = read();
  const sides = [cores.server, cores.generator].map(parseCpuList).map((of) => ({ of, before: readCores(of) }));
  return (generatorCpu) => {
    const after = sides.map(({ of }) => readCores(of));
    const spentMs = performance.now() - since;
    const { user, system } = process.cpuUsage(ourUsage);
    const serversUs = usedBetween(serversBefore, read());
    const ours =
      generatorCpu === null || serversUs === null || !isSeen
        ? sides.map(() => Number.POSITIVE_INFINITY)
        : [serversUs / 1e3, generatorCpu * spentMs + (user + system) / 1e3];
    const taken = sides.map(({ of, before }, i) => {
      const { busyMs, stolenMs } = after[i] as (typeof after)[0];
      const others = busyMs - before.busyMs - (ours[i] as number);
      return (stolenMs - before.stolenMs + Math.max(0, others - UNSURE_MS)) / spentMs / of.length;
    });
    return Math.max(...taken);
  };
}
