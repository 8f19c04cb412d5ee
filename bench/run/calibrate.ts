import type { Cores } from "../host/cores.ts";
import { type LoadGenerator, load } from "../load/fortio.ts";
import { UNLOADED_SECONDS } from "../plan/duration.ts";
import { start } from "./targets/local.ts";
import { isStartedHere, type Target } from "./targets/target.ts";
import { watch } from "./usage.ts";

/** What is known of one target at one endpoint before it is measured. */
export interface Calibration {
  /** Median latency of one connection alone. */
  readonly unloadedMs: number;
  /** Width of the finest bucket of its histograms, the same in all blocks, so that they merge. */
  readonly resolutionSeconds: number;
}

/** The best counts: a machine that is elsewhere fills no line, and makes it look long. */
const LINE_TRIES = 3;

/** @returns requests per second that the generator reaches against a server that does nothing, with `connections`. */
export async function ceiling(connections: number, cores: Cores | null, signal: AbortSignal): Promise<number> {
  const command = ["bun", "bench/load/nothing.ts"];
  const target = await start({ kind: "local", name: "nothing", command, env: {} }, cores?.server, signal);
  try {
    return (await load(target.url, { connections, seconds: 1 }, cores?.generator, signal)).goodput;
  } finally {
    await target.stop();
  }
}

/**
 * @param loadedMs about the mean latency in the slices to come: it is to lie 100 to 1000 finest buckets from 0; null
 *   where the rate is fixed and most answers come as soon as from an unloaded server
 */
export async function calibrate(
  target: Target,
  endpoint: string,
  loadedMs: number | null,
  load: LoadGenerator,
): Promise<Calibration> {
  const options = { connections: 1, seconds: UNLOADED_SECONDS };
  let unloadedMs = Number.POSITIVE_INFINITY;
  for (let n = 0; n < (isStartedHere(target) ? 1 : LINE_TRIES); n++) {
    const { percentilesMs } = await load(target.url, endpoint, options);
    unloadedMs = Math.min(unloadedMs, percentilesMs[50]);
  }
  return { unloadedMs, resolutionSeconds: 10 ** Math.floor(Math.log10((loadedMs ?? 10 * unloadedMs) / 1e5)) };
}

/**
 * Bytes per second of the line to a target, by answers of 20 rows; null where something else limits them: the server's
 * CPU, or waiting. Only servers of the matrix, which have that endpoint and say their CPU time.
 */
export async function lineSpeed(target: Target, connections: number, load: LoadGenerator): Promise<number | null> {
  const endpoint = "/sqlite/random-30fields/20";
  if (!target.identity) return null;
  const alone = await load(target.url, endpoint, { connections: 1, seconds: 0.5 });
  let most: number | null = null;
  for (let n = 0; n < LINE_TRIES; n++) {
    const watched = await watch(target);
    const seen = await load(target.url, endpoint, { connections, seconds: 1 });
    const { utilization } = await watched(seen);
    const limited = utilization === null || utilization >= 0.7 || seen.averageMs < 1.5 * alone.averageMs;
    if (!limited) most = Math.max(most ?? 0, seen.goodput * seen.bytesPerRequest);
  }
  return most;
}
