/** Turns: one server at a time is loaded for a window, all of them within a second or two, in random order, again and again. */
import { setTimeout as sleep, setImmediate as yieldOnce } from "node:timers/promises";
import type { Meter } from "../host/meter.ts";
import type { Pausable } from "../load/pausable.ts";

/** What one server did in one window. */
export interface Played {
  /** From the moment its generator ran until what was in flight was answered. */
  readonly seconds: number;
  /** What was asked, in the unit of its player: bytes or requests. */
  readonly work: number;
  /** CPU time; null if it cannot be seen. */
  readonly cpuUs: number | null;
  /** Part of `cpuUs` used by its own database and pooler. */
  readonly databaseUs: number | null;
  readonly poolerUs: number | null;
}

/** Clocks of all that works for a server, and of parts of that; null if it has no such part. */
export interface Clocks {
  readonly all: Meter;
  readonly server: Meter;
  readonly database: Meter | null;
  readonly pooler: Meter | null;
}

const READ_NOTHING = { cpuUs: null, databaseUs: null, poolerUs: null };

/** What clocks say at one moment, µs. */
export function readClocks(clocks: Clocks | null) {
  if (clocks === null) return READ_NOTHING;
  const { all, database, pooler } = clocks;
  return { cpuUs: all.cpuUs(), databaseUs: database?.cpuUs() ?? null, poolerUs: pooler?.cpuUs() ?? null };
}

export const minus = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a - b);

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
  const before = readClocks(clocks);
  const sentBefore = generator.sent();
  const since = performance.now();
  generator.go();
  await sleep(windowMs);
  await generator.pause();
  const until = await rested(clocks, quietMs, windowMs);
  const work = generator.sent() - sentBefore;
  const after = readClocks(clocks);
  const said = (await tell?.()) ?? null;
  return {
    seconds: (until - since) / 1e3,
    work,
    cpuUs: tell ? minus(said, told ?? null) : minus(after.cpuUs, before.cpuUs),
    databaseUs: minus(after.databaseUs, before.databaseUs),
    poolerUs: minus(after.poolerUs, before.poolerUs),
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
