/** Turns: one server at a time is loaded for a window, all of them within a second or two, in random order, again and again. */
import { setTimeout as sleep, setImmediate as yieldOnce } from "node:timers/promises";
import type { Meter } from "../host/meter.ts";
import type { Window } from "../keep/slices.ts";
import type { Pausable } from "../load/pausable.ts";

/** What one server did in one window, until what was in flight was answered. */
export interface Played extends Pick<Window, "seconds" | "cpuUs" | "databaseUs" | "poolerUs"> {
  /** What was asked, in the unit of its player: bytes or requests. */
  readonly work: number;
}

/** Clocks of all that works for a server, and of parts of that; null if it has no such part. */
export interface Clocks {
  readonly all: Meter;
  readonly server: Meter;
  readonly database: Meter | null;
  readonly pooler: Meter | null;
}

/** Reads clocks. @returns what reads how far they have moved since, µs; null for those that there are not */
export function readClocks(clocks: Clocks | null) {
  const read = () => [clocks?.all, clocks?.database, clocks?.pooler].map((meter) => meter?.cpuUs() ?? null);
  const before = read();
  return () => {
    const [cpuUs = null, databaseUs = null, poolerUs = null] = read().map((us, i) => minus(us, before[i] ?? null));
    return { cpuUs, databaseUs, poolerUs };
  };
}

const minus = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a - b);

/** How a server is loaded in its windows. */
export interface Turn {
  readonly generator: Pausable;
  /** Null if its processes cannot be seen. */
  readonly clocks: Clocks | null;
  /** What it says itself that it has used, µs, if its processes cannot be seen. */
  readonly tell: (() => Promise<number | null>) | null;
  /** How long it may rest and yet have something in flight, ms: it waits for something. */
  readonly quietMs: number;
}

/** Loads it for a window, and waits until it rests. */
export async function playWindow({ generator, clocks, tell, quietMs }: Turn, windowMs: number): Promise<Played> {
  const told = await tell?.();
  const used = readClocks(clocks);
  const sentBefore = generator.sent();
  const since = performance.now();
  generator.go();
  await sleep(windowMs);
  await generator.pause();
  const until = await rested(clocks, quietMs, windowMs);
  const work = generator.sent() - sentBefore;
  const all = used();
  const said = (await tell?.()) ?? null;
  return {
    seconds: (until - since) / 1e3,
    work,
    ...all,
    ...(tell && { cpuUs: minus(said, told ?? null) }),
  };
}

/** A server that spins, or works at rest, is not waited for longer than so many windows. */
const MOST_WINDOWS = 3;
const LEAST_WAIT_MS = 100;

/**
 * Waits until what was in flight is answered: until no thread of a server has run at two looks in a row, or for `quietMs`.
 * @returns when it ran last, by performance.now()
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
