/** Slices: one server alone, without a pause, for its latencies, errors and memory. */
import { hostname } from "node:os";
import { UsageError } from "../../shared/errors.ts";
import { WORKLOADS } from "../ask/endpoints.ts";
import { parseCpuList } from "../host/cores.ts";
import { verdictOf } from "../judge/verdict.ts";
import { appendSlices, PROTOCOL, type Slice } from "../keep/slices.ts";
import type { Load, LoadOptions, StepLoad } from "../load/fortio.ts";
import { merge } from "../load/histogram.ts";
import type { Game } from "./players.ts";
import type { Session } from "./session.ts";
import { type Waits, watchWaits } from "./stores/waits.ts";
import { isStartedHere, type Target } from "./targets/target.ts";
import { type Played, readClocks } from "./turns.ts";
import { type Usage, watch, watchCores } from "./usage.ts";

/** Part of the time of a slice in which all of several agents must have run. */
const LEAST_OVERLAP = 0.95;
/** Sends of each connection at a fixed rate, at least: fortio spaces them by their number. */
const LEAST_SENDS = 4;

/** Few enough that each connection sends several times. */
const connectionsAt = (rate: number, most: number, seconds: number): number =>
  Math.max(1, Math.min(most, Math.floor((rate * seconds) / LEAST_SENDS)));

/** One slice, and what its database and pooler used meanwhile. */
export interface Solo extends Pick<Played, "databaseUs" | "poolerUs"> {
  readonly slice: Slice;
}

/** @param seconds the plan's, if absent; likewise what the scenario says */
export async function solo(
  session: Session,
  game: Game,
  seconds = session.manifest.plan.amount.soloSeconds,
): Promise<Solo> {
  const { manifest } = session;
  const { target } = game;
  const { rate, endpoint, connections: most } = game.scenario;
  const { unloadedMs = null } = manifest.calibration[target.name]?.[endpoint] ?? {};
  // 100 to 1,000 of the finest buckets from 0 to a latency under load, which is above the unloaded one.
  const resolutionSeconds = 10 ** Math.floor(Math.log10(Math.max(unloadedMs ?? 0, 1) / 1e5));
  const connections = rate === null ? most : connectionsAt(rate, most, seconds);
  const options = { connections, seconds, rate: rate ?? undefined, resolutionSeconds };
  const waited = target.databaseUrl === null ? null : await watchWaits(target.databaseUrl);
  const used = readClocks(target.clocks);
  let one: Loaded;
  let waits: Waits | null | undefined;
  try {
    one = await loaded(session, target, endpoint, options);
  } finally {
    waits = await waited?.();
  }
  const { databaseUs, poolerUs } = used();
  const { load, usage } = one;
  const seen = { ...sliceOf(session, game, one), ...waits, connections };
  const verdict = verdictOf({
    ...seen,
    refused: load.refused,
    throttled: usage.throttled,
    dropped: load.dropped ?? null,
    isStartedHere: isStartedHere(target),
    generatorCores: manifest.cores ? parseCpuList(manifest.cores.generator).length : navigator.hardwareConcurrency,
    ceiling: manifest.ceiling,
    unloadedMs,
    lineBytesPerSecond: manifest.lineBytesPerSecond[target.name] ?? null,
  });
  const slice = { ...seen, verdict };
  keep(session, slice, load);
  return { slice, databaseUs, poolerUs };
}

interface Loaded {
  readonly load: Load;
  readonly usage: Usage;
  /** Part of the time in which the host or other processes had the cores of server or generator; null if that cannot be seen. */
  readonly taken: number | null;
}

/** @throws UsageError if several agents do not load a target at the same time, three times in a row. */
async function loaded(session: Session, target: Target, endpoint: string, options: LoadOptions): Promise<Loaded> {
  const { cores } = session.manifest;
  for (const _ of [1, 2, 3]) {
    const watched = await watch(target);
    const taking = cores && watchCores(cores, session.up);
    const load = await session.load(target, endpoint, options);
    const taken = taking?.(load.generatorCpu) ?? null;
    const usage = await watched(load);
    if (load.overlap >= LEAST_OVERLAP) return { load, usage, taken };
  }
  throw new UsageError(
    `the agents ran together for less than ${LEAST_OVERLAP * 100} % of a slice of ${options.seconds} s: raise --seconds, or leave out one that is far away`,
  );
}

/** Keeps a slice, and one for each step of a sequence. */
function keep({ manifest, results, slices }: Session, slice: Slice, load: Load): void {
  const { endpoint, name, scenario } = slice;
  const steps = Object.entries(load.steps ?? {}).map(([step, of]) => ({
    histogram: of.histogram,
    slice: { ...slice, ...seenBy(of, load.seconds), step, cpuUsPerRequest: null },
  }));
  const all = [{ histogram: load.histogram, slice }, ...steps];
  const kept = all.map((one) => one.slice);
  appendSlices(results, kept);
  slices.push(...kept);
  manifest.seconds.loaded += slice.seconds;
  // Rates that a search tries are not the plan's.
  const isPlanned = manifest.plan.scenarios.some((one) => one.name === scenario && one.rate === slice.targetRate);
  if (!isPlanned || slice.verdict === "starved") return;
  manifest.histograms[name] ??= {};
  const ofTarget = manifest.histograms[name] as (typeof manifest.histograms)[string];
  for (const { histogram, slice: of } of all) {
    const key = of.step === null ? scenario : `${endpoint} ${of.step}`;
    ofTarget[key] = merge([ofTarget[key] ?? [], histogram]);
  }
}

const seenBy = ({ requests, errors, averageMs, maxMs, percentilesMs }: StepLoad, seconds: number) => ({
  requests,
  errors,
  averageMs,
  goodput: (requests - errors) / seconds,
  p50Ms: percentilesMs[50],
  p90Ms: percentilesMs[90],
  p99Ms: percentilesMs[99],
  p999Ms: percentilesMs[99.9],
  maxMs,
});

/** Name and version of what a server is made of, as far as it says them. */
const version = (of: { name: string; version: string | null } | undefined) =>
  of ? [of.name, of.version].join(" ").trim() : null;

/** A slice but for its verdict, its connections and what its database waited for. */
function sliceOf({ manifest, slices }: Session, game: Game, { load, usage, taken }: Loaded) {
  const { restart, scenario, target } = game;
  const { identity, spec } = target;
  const { store } = WORKLOADS[manifest.plan.workload];
  const choices = spec.kind === "url" ? undefined : spec.choices;
  const { throttled: _, ...used } = usage;
  return {
    ...seenBy(load, load.seconds),
    ...used,
    name: target.name,
    endpoint: scenario.endpoint,
    scenario: scenario.name,
    step: null,
    level: scenario.level?.unit ?? null,
    kind: scenario.rate === null ? ("closed" as const) : ("open" as const),
    targetRate: scenario.rate,
    lockWaiters: null,
    idleInTransaction: null,
    deadlocks: null,
    sockets: load.sockets,
    seconds: load.seconds,
    run: manifest.run,
    startedAt: new Date(load.startedAt).toISOString(),
    protocol: PROTOCOL,
    runtime: version(identity?.runtime),
    framework: version(identity?.framework),
    driver: identity && (store ? identity.store.driver : `${identity.driver.name} ${identity.driver.sqlite}`),
    workers: identity?.workers ?? null,
    server: choices?.server ?? null,
    chosenDriver: choices?.driver ?? null,
    settings: choices?.settings ?? null,
    twinOf: spec.twinOf ?? null,
    target: target.url,
    host: hostname(),
    restart,
    slice: 1 + (slices.at(-1)?.slice ?? 0),
    startupMs: target.startupMs,
    generatorCpu: load.generatorCpu,
    bytesPerRequest: load.bytesPerRequest,
    taken,
  };
}
