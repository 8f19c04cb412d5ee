import { hostname } from "node:os";
import { UsageError } from "../../shared/errors.ts";
import type { Identity } from "../../shared/identity.ts";
import { WORKLOADS } from "../ask/endpoints.ts";
import { parseCpuList } from "../host/cores.ts";
import { isFailing, verdictOf } from "../judge/verdict.ts";
import { appendSlices, PROTOCOL, type Slice } from "../keep/slices.ts";
import { overlap } from "../load/agents.ts";
import type { Load, LoadOptions, StepLoad } from "../load/fortio.ts";
import { type Histogram, merge } from "../load/histogram.ts";
import { type Plan, rateAt } from "../plan/plan.ts";
import type { Session } from "./session.ts";
import { watchWaits } from "./stores/waits.ts";
import { isStartedHere, readIdentity, type Target } from "./targets/target.ts";
import { type Usage, watch, watchCores } from "./usage.ts";

/** One target in one slice. */
export interface Measured {
  readonly target: Target;
  readonly load: Load;
  readonly usage: Usage;
  /** Part of the time in which the host or other processes had the cores of server or generator; null if that cannot be seen. */
  readonly taken: number | null;
}

/**
 * Loads targets at the same moment, each by a generator of its own.
 * @param endpointOf the same for all, or by target
 * @param cores of the generators, instead of the session's
 */
export async function together(
  session: Session,
  targets: readonly Target[],
  endpointOf: string | ((target: Target) => string),
  options: LoadOptions,
  cores?: string,
): Promise<Measured[]> {
  const place = (target: Target) => (typeof endpointOf === "string" ? endpointOf : endpointOf(target));
  const watches = await Promise.all(targets.map((target) => watch(target)));
  const watched =
    session.manifest.cores && watchCores(session.manifest.cores, [...new Set([...session.up, ...targets])]);
  const loads = await Promise.all(targets.map((target) => session.load(target.url, place(target), options, cores)));
  const sum = (values: readonly (number | null)[]) =>
    values.reduce((all: number | null, one) => (all === null || one === null ? null : all + one), 0);
  const taken = watched?.(sum(loads.map(({ generatorCpu }) => generatorCpu))) ?? null;
  const usages = await Promise.all(
    targets.map(async (target, i) => {
      const load = loads[i] as Load;
      if (load.goodput === 0) await readIdentity(target.url, session.signal); // one that is gone ends the run
      return (watches[i] as (load: Load) => Promise<Usage>)(load);
    }),
  );
  return targets.map((target, i) => ({ target, load: loads[i] as Load, usage: usages[i] as Usage, taken }));
}

/** Part of the time of a slice in which all generators must have run. */
const LEAST_OVERLAP = 0.95;

/** Enough that a cheap request's cost does not depend on the partner, few that both sides begin at about one moment. */
const DUET_CONNECTIONS = 64;

/** A duet in which the host or others had more of the cores' time is noisier than two others together. */
const MOST_TAKEN = 0.3;

/** Duets that are made for one that counts. */
const MOST_VOID = 4;
/** How many times as long as planned a duet is at the most. */
const LONGEST = 16;

/**
 * Two targets at the same moment on the same cores; again where they did not overlap or one failed, as a ring with two gaps
 * ranks nobody, and once more where the machine was elsewhere and the number of blocks is fixed: more blocks are worth more.
 */
export async function duet(session: Session, block: number, endpoint: string, pair: [Target, Target]): Promise<void> {
  const { connections: most, amount } = session.manifest.plan;
  const connections = Math.min(most, DUET_CONNECTIONS);
  const needed = ({ name }: Target) => session.duetSeconds.get(`${name} ${endpoint}`) ?? amount.duetSeconds;
  let seconds = Math.max(...pair.map(needed));
  const longest = LONGEST * amount.duetSeconds;
  for (let tries = 1; ; tries++) {
    const rate = session.manifest.plan.rates?.[endpoint];
    const seen = await together(
      session,
      pair,
      endpoint,
      rate ? halfOf(rate, connections, seconds) : { connections, seconds },
    );
    const [a, b] = seen as [Measured, Measured];
    const atOnce = Math.min(overlap([a.load, b.load]), a.load.overlap, b.load.overlap);
    const usable = atOnce >= LEAST_OVERLAP && !seen.some(({ load }) => isFailing(load));
    const slice = nextSlice(session);
    saveSlices(
      session,
      seen.map((one, i) => ({
        ...fieldsOf(session, block, slice, endpoint, one),
        kind: "duet",
        connections: rate === undefined ? connections : connectionsAt(rate / 2, connections, seconds),
        partner: (pair[1 - i] as Target).name,
        targetRate: rate === undefined ? null : rate / 2,
        verdict: usable ? null : "void",
      })),
    );
    const isEnough = tries > 1 || amount.blocks === 0 || (a.taken ?? 0) <= MOST_TAKEN;
    const isDone = usable ? isEnough : tries === MOST_VOID || seconds >= longest;
    if (atOnce < LEAST_OVERLAP) seconds = Math.min(2 * seconds, longest);
    if (isDone) {
      // Half of it: who was only held up needs no more next time, and who answers late needs one more try.
      const slower = a.load.averageMs > b.load.averageMs ? a : b;
      session.duetSeconds.set(`${slower.target.name} ${endpoint}`, Math.max(seconds / 2, amount.duetSeconds));
      return;
    }
  }
}

/** Sends of each connection in a slice at a fixed rate, at least: fortio spaces them by their number. */
const LEAST_SENDS = 4;

/** Few enough that each connection sends several times. */
const connectionsAt = (rate: number, most: number, seconds: number): number =>
  Math.max(1, Math.min(most, Math.floor((rate * seconds) / LEAST_SENDS)));

const halfOf = (rate: number, most: number, seconds: number): LoadOptions => ({
  connections: connectionsAt(rate / 2, most, seconds),
  seconds,
  rate: rate / 2,
});

/** Two targets at the same moment, each at the same fixed rate: what their answers take when neither is at its limit. */
export async function duetAtRate(
  session: Session,
  block: number,
  endpoint: string,
  pair: readonly [Target, Target],
  rate: number,
): Promise<void> {
  const { duetSeconds: seconds } = session.manifest.plan.amount;
  const connections = connectionsAt(rate, DUET_CONNECTIONS, seconds);
  const seen = await together(session, pair, endpoint, { connections, seconds, rate });
  const slice = nextSlice(session);
  const usable = !seen.some(({ load }) => isFailing(load));
  saveSlices(
    session,
    seen.map((one, i) => ({
      ...fieldsOf(session, block, slice, endpoint, one),
      kind: "open",
      connections,
      partner: (pair[1 - i] as Target).name,
      targetRate: rate,
      verdict: usable ? null : "void",
    })),
  );
}

/** @throws UsageError where several agents do not load a target at the same time, three times in a row. */
async function alone(session: Session, target: Target, endpoint: string, options: LoadOptions): Promise<Measured> {
  for (const _ of [1, 2, 3]) {
    const [one] = (await together(session, [target], endpoint, options)) as [Measured];
    if (one.load.overlap >= LEAST_OVERLAP) return one;
  }
  throw new UsageError(
    `the agents ran together for less than ${LEAST_OVERLAP * 100} % of a slice of ${options.seconds} s: raise --seconds, or leave out one that is far away`,
  );
}

/** Slices that are made of a target alone while the machine is elsewhere. */
const MOST_STARVED = 2;

/** One target alone: as fast as answers come, or at a rate; again where it was starved. */
export async function solo(...args: Parameters<typeof soloOnce>): Promise<Slice> {
  for (let n = 1; ; n++) {
    const slice = await soloOnce(...args);
    if (slice.verdict !== "starved" || n === MOST_STARVED) return slice;
  }
}

async function soloOnce(
  session: Session,
  block: number,
  endpoint: string,
  target: Target,
  rate: number | null,
  seconds = session.manifest.plan.amount.soloSeconds,
  connections = rate !== null && session.manifest.plan.rates
    ? connectionsAt(rate, session.manifest.plan.connections, seconds)
    : (session.manifest.plan.ladder?.[endpoint] ?? session.manifest.plan.connections),
): Promise<Slice> {
  const { manifest } = session;
  const calibration = manifest.calibration[target.name]?.[endpoint];
  const options = { connections, seconds, rate: rate ?? undefined, resolutionSeconds: calibration?.resolutionSeconds };
  const { databaseUrl } = target.helpers;
  const waited = databaseUrl === null ? null : await watchWaits(databaseUrl);
  const one = await alone(session, target, endpoint, options);
  const waits = await waited?.();
  const { load: seen, usage, taken } = one;
  const slice: Slice = {
    ...fieldsOf(session, block, nextSlice(session), endpoint, one),
    ...waits,
    kind: rate === null ? "closed" : "open",
    connections,
    partner: null,
    targetRate: rate,
    verdict: verdictOf({
      ...seen,
      ...usage,
      taken,
      isStartedHere: isStartedHere(target),
      connections,
      dropped: seen.dropped ?? null,
      targetRate: rate,
      generatorCores: manifest.cores ? parseCpuList(manifest.cores.generator).length : navigator.hardwareConcurrency,
      ceiling: manifest.ceiling,
      unloadedMs: calibration?.unloadedMs ?? null,
      lineBytesPerSecond: manifest.lineBytesPerSecond[target.name] ?? null,
    }),
  };
  const ofSteps = Object.entries(seen.steps ?? {}).map(([step, load]) => ({
    endpoint: `${endpoint} ${step}`,
    histogram: load.histogram,
    slice: { ...slice, ...seenBy(load, seen.seconds), endpoint: `${endpoint} ${step}`, cpuUsPerRequest: null },
  }));
  saveSlices(session, [slice, ...ofSteps.map(({ slice }) => slice)]);
  // Only at the rate that the table shows: the attempts of a search have others.
  if (rate === rateAt(manifest.plan, endpoint) && slice.verdict !== "starved") {
    manifest.histograms[target.name] ??= {};
    const ofTarget = manifest.histograms[target.name] as Record<string, Histogram>;
    for (const { endpoint: of, histogram } of [{ endpoint, histogram: seen.histogram }, ...ofSteps]) {
      ofTarget[of] = merge([ofTarget[of] ?? [], histogram]);
    }
  }
  return slice;
}

const nextSlice = ({ slices }: Session) => 1 + (slices.at(-1)?.slice ?? 0);

const driverOf = ({ workload }: Plan, { driver, store }: Identity) =>
  WORKLOADS[workload].store ? store.driver : `${driver.name} ${driver.sqlite}`;

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

/** What all kinds of slices have. */
function fieldsOf(
  session: Session,
  block: number,
  slice: number,
  endpoint: string,
  { target, load, usage, taken }: Measured,
) {
  const { manifest, warmth } = session;
  const { identity } = target;
  const steady = warmth[target.name]?.[endpoint]?.steady ?? null;
  const version = (of: { name: string; version: string | null } | undefined) =>
    of ? [of.name, of.version].join(" ").trim() : null;
  return {
    name: target.name,
    endpoint,
    ...seenBy(load, load.seconds),
    cpuUsPerRequest: usage.cpuUsPerRequest,
    rssBytes: usage.rssBytes,
    databaseUsPerRequest: usage.databaseUsPerRequest,
    poolerUsPerRequest: usage.poolerUsPerRequest,
    databaseBytes: usage.databaseBytes,
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
    driver: identity && driverOf(manifest.plan, identity),
    workers: identity?.workers ?? null,
    target: target.url,
    host: hostname(),
    block,
    slice,
    utilization: usage.utilization,
    peakRssBytes: usage.peakRssBytes,
    startupMs: target.startupMs,
    generatorCpu: load.generatorCpu,
    bytesPerRequest: load.bytesPerRequest,
    kernelUsPerRequest: usage.kernelUsPerRequest,
    faultsPerRequest: usage.faultsPerRequest,
    switchesPerRequest: usage.switchesPerRequest,
    taken,
    warm: steady === null ? null : steady ? ("steady" as const) : ("warming" as const),
  };
}

function saveSlices(session: Session, slices: Slice[]): void {
  appendSlices(session.results, slices);
  session.slices.push(...slices);
  session.manifest.seconds.loaded += slices[0]?.seconds ?? 0;
}
