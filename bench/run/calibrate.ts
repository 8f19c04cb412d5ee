import { isSequence } from "../ask/endpoints.ts";
import { thenEnd } from "../host/clean-up.ts";
import { median } from "../judge/statistics.ts";
import type { Calibration } from "../keep/manifest.ts";
import { ask } from "../load/ask.ts";
import { load } from "../load/fortio.ts";
import type { Session } from "./session.ts";
import { askedAt } from "./targets/answers.ts";
import { start } from "./targets/local.ts";
import { isStartedHere, type Target } from "./targets/target.ts";
import { watch } from "./usage.ts";

/** The fastest of these tries counts, because the network is not saturated while the host takes the CPU away. */
const LINE_TRIES = 3;
/** The latency without load is the median of this many requests, sent one after the other. */
const UNLOADED_ASKS = 9;
const UNLOADED_SECONDS = 0.1;

/** @returns the calibration of a target at an endpoint; the first call measures it. */
export async function calibrate(session: Session, target: Target, endpoint: string): Promise<Calibration> {
  const { calibration } = session.manifest;
  calibration[target.name] ??= {};
  const ofTarget = calibration[target.name] as Record<string, Calibration>;
  if (ofTarget[endpoint]) return ofTarget[endpoint];
  const unloadedMs = await unloaded(session, target, endpoint);
  ofTarget[endpoint] = { unloadedMs };
  return ofTarget[endpoint];
}

async function unloaded({ load, signal, manifest }: Session, target: Target, endpoint: string): Promise<number> {
  const { workload } = manifest.plan;
  if (isSequence(workload, endpoint))
    return (await load(target, endpoint, { connections: 1, seconds: UNLOADED_SECONDS })).percentilesMs[50];
  const seen: number[] = [];
  for (let i = 0; i < UNLOADED_ASKS; i++) seen.push((await ask(askedAt(target, endpoint, workload), signal)).ms);
  return median(seen);
}

/** Measures the limit of the generator and of the network to a target, each once per run. */
export async function calibrateGenerator(session: Session, target: Target): Promise<void> {
  const { manifest } = session;
  if (!isStartedHere(target) && manifest.lineBytesPerSecond[target.name] === undefined)
    manifest.lineBytesPerSecond[target.name] = await lineSpeed(session, target);
  if (manifest.plan.agents.length === 0) manifest.ceiling ??= await ceiling(session);
}

/** @returns requests per second that the generator reaches against a server that does nothing. */
async function ceiling({ manifest: { plan, cores }, signal }: Session): Promise<number> {
  const command = ["bun", "bench/load/nothing.ts"];
  const target = await start({ kind: "local", name: "nothing", command, env: {} }, cores?.server, signal);
  const options = { connections: plan.connections, seconds: 0.5 };
  const { goodput } = await thenEnd(
    () => load({ url: target.url }, options, cores?.generator, signal),
    () => [target.stop()],
  );
  return goodput;
}

/**
 * Bandwidth of the network to a target in bytes per second, measured with answers of 20 rows; null if the server's CPU or
 * waiting is the limit. Measures only servers of the matrix, because they have that endpoint and report their CPU time.
 */
async function lineSpeed({ load, manifest }: Session, target: Target): Promise<number | null> {
  const endpoint = "/sqlite/random-30fields/20";
  if (!target.identity) return null;
  const { connections } = manifest.plan;
  const alone = await load(target, endpoint, { connections: 1, seconds: 0.5 });
  let most: number | null = null;
  for (let n = 0; n < LINE_TRIES; n++) {
    const watched = await watch(target);
    const seen = await load(target, endpoint, { connections, seconds: 1 });
    const { utilization } = await watched(seen);
    const limited = utilization === null || utilization >= 0.7 || seen.averageMs < 1.5 * alone.averageMs;
    if (!limited) most = Math.max(most ?? 0, seen.goodput * seen.bytesPerRequest);
  }
  return most;
}
