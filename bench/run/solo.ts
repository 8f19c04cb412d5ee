/** Slices: one server alone, without a pause, for its latencies, errors and memory. */
import { hostname } from "node:os";
import { UsageError } from "../../shared/errors.ts";
import { WORKLOADS } from "../ask/endpoints.ts";
import { parseCpuList } from "../host/cores.ts";
import { verdictOf } from "../judge/verdict.ts";
import { appendSlices, PROTOCOL, type Slice } from "../keep/slices.ts";
import type { Failed } from "../load/failed.ts";
import type { Load, LoadOptions, StepLoad } from "../load/fortio.ts";
import { merge } from "../load/histogram.ts";
import { calibrateGenerator } from "./calibrate.ts";
import type { Game } from "./players.ts";
import type { Session } from "./session.ts";
import { type Waits, watchWaits } from "./stores/waits.ts";
import { isStartedHere, type Target } from "./targets/target.ts";
import { type Played, readClocks } from "./turns.ts";
import { type Usage, watch, watchCores } from "./usage.ts";

/** Minimum share of a slice during which all agents ran together. */
const LEAST_OVERLAP = 0.95;
/** Minimum sends per connection at a fixed rate, because fortio derives their spacing from their number. */
const LEAST_SENDS = 4;

/** @returns so few connections that each sends LEAST_SENDS times. */
const connectionsAt = (rate: number, most: number, seconds: number): number =>
  Math.max(1, Math.min(most, Math.floor((rate * seconds) / LEAST_SENDS)));

/** One slice, and the CPU time that database and pooler used for it. */
export interface Solo extends Pick<Played, "databaseUs" | "poolerUs"> {
  readonly slice: Slice;
  readonly failed: Failed;
}

export async function solo(
  session: Session,
  game: Game,
  seconds = session.manifest.plan.amount.soloSeconds,
): Promise<Solo> {
  const { manifest } = session;
  const { target } = game;
  const { rate, endpoint, connections: most } = game.scenario;
  await calibrateGenerator(session, target);
  const { unloadedMs = null } = manifest.calibration[target.name]?.[endpoint] ?? {};
  // 100 to 1,000 of the finest buckets lie between 0 and the latency without load; latencies under load are higher.
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
  return { slice, failed: load.failed ?? {}, databaseUs, poolerUs };
}

interface Loaded {
  readonly load: Load;
  readonly usage: Usage;
  /** Share of CPU that the host or other processes took from the server's or generator's cores; null if unknown. */
  readonly taken: number | null;
}

/** @throws UsageError if the agents do not load the target at the same time in any of three tries. */
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
  // Histograms hold only the plan's rates, not those that a search tries.
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

/** Name and version of a runtime or framework; null if the server does not report it. */
const version = (of: { name: string; version: string | null } | undefined) =>
  of ? [of.name, of.version].join(" ").trim() : null;

/** A slice without its verdict, its connections and the waits in its database. */
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
