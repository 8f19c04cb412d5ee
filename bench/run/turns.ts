/** Windows: one server at a time is loaded, all servers within a second or two, in random order, round after round. */
import { setTimeout as sleep, setImmediate as yieldOnce } from "node:timers/promises";
import { type Count, type Meter, usedBetween } from "../host/meter.ts";
import type { Window } from "../keep/slices.ts";
import type { Pausable } from "../load/pausable.ts";

/** What one server did in one window, which ends when the requests in flight are answered. */
export interface Played extends Pick<Window, "seconds" | "cpuUs" | "databaseUs" | "poolerUs"> {
  /** Amount sent, in the unit of its player: bytes or requests. */
  readonly work: number;
}

/** CPU clocks of a server with its database and pooler, and of each alone; null if it has no such part. */
export interface Clocks {
  readonly all: Meter;
  readonly server: Meter;
  readonly database: Meter | null;
  readonly pooler: Meter | null;
}

/** Reads CPU clocks. @returns a function that tells the CPU time since then, µs; null if it is not known, or there is no such clock */
export function readClocks(clocks: Clocks | null) {
  const read = () =>
    [clocks?.all, clocks?.database, clocks?.pooler].map((meter) => (meter ? { cpuUs: meter.cpuUs() } : null));
  const before = read();
  return () => {
    const [cpuUs = null, databaseUs = null, poolerUs = null] = read().map((count, i) =>
      usedBetween(before[i] ?? null, count),
    );
    return { cpuUs, databaseUs, poolerUs };
  };
}

/** How a server is loaded in its windows. */
export interface Turn {
  readonly generator: Pausable;
  /** Null if its processes cannot be seen. */
  readonly clocks: Clocks | null;
  /** Asks the server for its CPU time, if its processes cannot be seen. */
  readonly tell: (() => Promise<Count | null>) | null;
  /** How long the server may be idle with requests in flight, because it waits for something, ms. */
  readonly quietMs: number;
}

/** Loads a server for one window, and waits until it is idle. @throws GeneratorEnded if the generator has ended, also during the window */
export async function playWindow({ generator, clocks, tell, quietMs }: Turn, windowMs: number): Promise<Played> {
  const told = (await tell?.()) ?? null;
  const used = readClocks(clocks);
  const sentBefore = await generator.sent();
  const since = performance.now();
  generator.go();
  await sleep(windowMs);
  await generator.pause();
  const until = await rested(clocks, quietMs, windowMs);
  const work = (await generator.sent()) - sentBefore;
  const all = used();
  const said = (await tell?.()) ?? null;
  return {
    seconds: (until - since) / 1e3,
    work,
    ...all,
    ...(tell && { cpuUs: usedBetween(told, said) }),
  };
}

/** Longest wait in windows, because a server that spins, or works without requests, is never idle. */
const MOST_WINDOWS = 3;
const LEAST_WAIT_MS = 100;

/**
 * Waits until the requests in flight are answered: no thread ran in two checks in a row and for `quietMs`. If the server
 * has no clocks, waits for `quietMs`. @returns when it ran last, by performance.now()
 */
async function rested(clocks: Clocks | null, quietMs: number, windowMs: number): Promise<number> {
  const since = performance.now();
  if (clocks === null) {
    await sleep(quietMs);
    return performance.now();
  }
  const most = Math.max(LEAST_WAIT_MS, MOST_WINDOWS * Math.max(windowMs, quietMs));
  let ran = since;
  let looks = 0;
  for (let now = since, used = Number.NaN; now - since < most; now = performance.now()) {
    const usedNow = quietMs > 0 ? clocks.all.cpuUs() : used;
    const isResting = !clocks.all.isBusy() && Object.is(usedNow, used);
    used = usedNow;
    if (!isResting) {
      ran = performance.now();
      looks = 0;
    } else if (++looks >= 2 && performance.now() - ran >= quietMs) break;
    await yieldOnce();
  }
  return ran;
}
