import { hostname } from "node:os";
import { UsageError } from "../shared/errors.ts";
import type { Identity } from "../shared/identity.ts";
import { type Calibration, calibrate, ceiling, lineSpeed } from "./calibrate.ts";
import { type Cores, parseCpuList, splitCores } from "./cores.ts";
import { overlap } from "./load/agents.ts";
import type { Load, LoadOptions, StepLoad } from "./load/fortio.ts";
import { type Histogram, merge } from "./load/histogram.ts";
import { duration, isHere, isStep, type LocalSpec, orderOf, type Plan, type TargetSpec, WORKLOADS } from "./plan.ts";
import { appendSlices, PROTOCOL, type Slice } from "./results.ts";
import { lastBlock, type Session, type Warmup } from "./session.ts";
import { type Bracket, type Capacity, capacityOf, type Slo, STARTS, searchCapacity, type Trial } from "./slo.ts";
import { startContainer } from "./targets/container.ts";
import { openEngine } from "./targets/engine.ts";
import { start } from "./targets/local.ts";
import { openStores } from "./targets/stores.ts";
import { readIdentity, type Target, verify } from "./targets/target.ts";
import { attach } from "./targets/url.ts";
import { type Usage, watch } from "./targets/usage.ts";
import { isFailing, verdictOf } from "./verdict.ts";

export const coresFor = (plan: Plan): Cores | null =>
  plan.targets.every(isHere) && plan.agents.length === 0 ? splitCores() : null;

/** Measures all blocks that are still to be done. */
export async function measure(session: Session): Promise<void> {
  const { manifest } = session;
  while (manifest.blocks.length < manifest.plan.amount.blocks) {
    // A block that was interrupted keeps its number and its rows; whole endpoints of it count.
    const block = 1 + lastBlock(session);
    const since = performance.now();
    session.progress.now(`block ${block}: start`);
    await withTargets(session, manifest.plan.targets, (targets) => measureBlock(session, block, targets));
    manifest.seconds.total += (performance.now() - since) / 1e3;
  }
  session.save();
}

/** All targets up and checked, then all down, whatever happens. */
export async function withTargets<T>(
  session: Session,
  specs: readonly TargetSpec[],
  use: (targets: Target[]) => Promise<T>,
): Promise<T> {
  const { signal } = session;
  const { plan } = session.manifest;
  const targets: Target[] = [];
  try {
    for (const spec of specs) {
      const target = await startTarget(session, spec);
      const same = targets.filter(({ name }) => name.replace(/#\d+$/, "") === target.name).length;
      const name = same === 0 ? target.name : `${target.name}#${same + 1}`;
      targets.push({ ...target, name });
      if (target.identity && WORKLOADS[plan.workload].store) session.manifest.stores[name] = target.identity.store;
      await verify(target, plan.endpoints, signal);
    }
    return await use(targets);
  } finally {
    await Promise.all(targets.map((target) => target.stop()));
  }
}

async function startTarget(session: Session, spec: TargetSpec): Promise<Target> {
  const { manifest, signal } = session;
  if (spec.kind === "local") return startLocal(session, spec);
  if (spec.kind === "url") return attach(spec, signal);
  if (session.engine === null) {
    session.engine = await openEngine(spec.engine, signal);
    manifest.environment = { ...manifest.environment, engine: session.engine.facts };
  }
  return startContainer(session.engine, spec, manifest.cores?.server, signal);
}

async function startLocal(session: Session, spec: LocalSpec): Promise<Target> {
  const { manifest, signal } = session;
  const cores = manifest.cores?.server;
  if (!spec.env.STORE) return start(spec, cores, signal);
  session.stores ??= openStores(signal);
  return start(spec, cores, signal, await session.stores.open(spec.env, cores));
}

async function measureBlock(session: Session, block: number, targets: Target[]): Promise<void> {
  const { manifest, progress } = session;
  const { plan } = manifest;
  const { restart, endpoint: endpointSeconds, once } = duration(plan);
  const names = targets.map(({ name }) => name);
  const named = new Map(targets.map((target) => [target.name, target]));
  const find = (name: string) => named.get(name) as Target;
  progress.now(`block ${block} warm-up`);
  const warmup = await warmRestarted(session, targets, plan.endpoints);
  progress.done(restart);
  if (manifest.ceiling === null) {
    progress.now("calibration");
    await calibrateGenerator(session, targets);
  }

  const steps = orderOf(plan, block, names, plan.targets.every(isLike(plan)) ? rivals(targets) : []);
  for (const { endpoint, duets, solos } of steps) {
    progress.now(`block ${block} ${endpoint} warm-up`);
    const latenciesMs = await warmEndpoint(session, targets, endpoint);
    if (targets.some(({ name }) => manifest.calibration[name]?.[endpoint] === undefined)) {
      await calibrateTargets(session, targets, endpoint, (name) => (plan.rate === null ? latenciesMs[name] : null));
      progress.done(once / steps.length);
    }
    for (const [a, b] of duets) {
      progress.now(`block ${block} ${endpoint}: ${a} and ${b}`);
      await duet(session, block, endpoint, [find(a), find(b)]);
    }
    for (const name of solos) {
      progress.now(`block ${block} ${endpoint}: ${name}`);
      await solo(session, block, endpoint, find(name), plan.rate);
    }
    progress.done(endpointSeconds);
    session.save();
  }
  manifest.blocks.push({ block, steps, warmup });
  session.save();
}

/** Targets whose CPU time can be read. */
const rivals = (targets: readonly Target[]) =>
  targets.filter(({ pid, identity }) => pid !== null || identity !== null).map(({ name }) => name);

/** Whether a target is on the same machine as the first: only then does a duet cancel that machine's noise. */
const isLike = (plan: Plan) => (spec: TargetSpec) => {
  const host = (one: TargetSpec | undefined) =>
    one?.kind === "url" ? new URL(one.url).hostname : one?.kind === "docker" ? one.engine.address : "";
  return host(spec) === host(plan.targets[0]);
};

/** Change of a target's CPU time per request from one pass to the next that counts as steady, ln scale. */
const STEADY = 0.03;

/** Whether no target changed against the others, all loaded at once: what they have in common is the host's. */
function isSteady(passes: readonly (readonly (number | null)[])[]): boolean {
  const changes = passes.flatMap((costs) => {
    const [before, now] = costs.slice(-2);
    return before && now ? [Math.log(now / before)] : [];
  });
  const common = changes.reduce((sum, change) => sum + change, 0) / changes.length;
  return changes.every((change) => Math.abs(change - common) < STEADY);
}

/** After a restart: loads all targets at once, endpoint after endpoint, until two passes agree or the most time is used. */
export async function warmRestarted(
  session: Session,
  targets: readonly Target[],
  endpoints: readonly string[],
): Promise<Warmup> {
  const { connections, amount } = session.manifest.plan;
  const [least, most] = amount.restartSeconds.map((seconds) => seconds * targets.length) as [number, number];
  const seconds = Math.max(0.1, least / 2 / endpoints.length);
  const cpuUsPerRequest: Record<string, (number | null)[]> = Object.fromEntries(targets.map(({ name }) => [name, []]));
  let steady = false;
  for (let used = 0; used < least || (!steady && used < most); used += seconds * endpoints.length) {
    const pass: Measured[][] = [];
    for (const endpoint of endpoints) {
      pass.push(await together(session, targets, endpoint, { connections, seconds }));
    }
    session.manifest.seconds.loaded += seconds * endpoints.length;
    targets.forEach(({ name }, i) => {
      const costs = pass.map((all) => all[i]?.usage.cpuUsPerRequest ?? null).filter((cost) => cost !== null);
      cpuUsPerRequest[name]?.push(costs.length > 0 ? costs.reduce((a, b) => a + b) / costs.length : null);
    });
    steady = isSteady(Object.values(cpuUsPerRequest));
  }
  return { steady, cpuUsPerRequest };
}

/** Right before the slices of an endpoint. @returns about the mean latency of each target alone, ms. */
export async function warmEndpoint(
  session: Session,
  targets: readonly Target[],
  endpoint: string,
): Promise<Record<string, number>> {
  const { connections, amount } = session.manifest.plan;
  const seconds = Math.max(0.1, amount.endpointSeconds * targets.length);
  const seen = await together(session, targets, endpoint, { connections, seconds });
  session.manifest.seconds.loaded += seconds;
  return Object.fromEntries(seen.map(({ target, load }) => [target.name, load.averageMs / targets.length]));
}

async function calibrateGenerator({ manifest, load, signal }: Session, targets: readonly Target[]): Promise<void> {
  const { plan, cores } = manifest;
  for (const target of targets.filter(({ pid }) => pid === null)) {
    manifest.lineBytesPerSecond[target.name] ??= await lineSpeed(target, plan.connections, load);
  }
  if (plan.agents.length === 0) manifest.ceiling ??= await ceiling(plan.connections, cores, signal);
}

async function calibrateTargets(
  { manifest, load }: Session,
  targets: readonly Target[],
  endpoint: string,
  loadedMs: (name: string) => number | null | undefined,
): Promise<void> {
  for (const target of targets) {
    manifest.calibration[target.name] ??= {};
    const ofTarget = manifest.calibration[target.name] as Record<string, Calibration>;
    ofTarget[endpoint] ??= await calibrate(target, endpoint, loadedMs(target.name) ?? null, load);
  }
}

interface Measured {
  readonly target: Target;
  readonly load: Load;
  readonly usage: Usage;
}

/** Loads targets at the same moment, each by a generator of its own. */
async function together(
  session: Session,
  targets: readonly Target[],
  endpoint: string,
  options: LoadOptions,
): Promise<Measured[]> {
  const watches = await Promise.all(targets.map((target) => watch(target)));
  const loads = await Promise.all(targets.map(({ url }) => session.load(url, endpoint, options)));
  return Promise.all(
    targets.map(async (target, i) => {
      const load = loads[i] as Load;
      if (load.goodput === 0) await readIdentity(target.url, session.signal); // one that is gone ends the run
      return { target, load, usage: await (watches[i] as (load: Load) => Promise<Usage>)(load) };
    }),
  );
}

/** Part of the time of a slice in which all generators must have run. */
const LEAST_OVERLAP = 0.95;

/** Enough that a cheap request's cost does not depend on the partner, few that both sides begin at about one moment. */
const DUET_CONNECTIONS = 64;

/** Two targets at the same moment on the same cores; repeated once where they did not overlap or one failed. */
export async function duet(session: Session, block: number, endpoint: string, pair: [Target, Target]): Promise<void> {
  const { connections: most, amount } = session.manifest.plan;
  const connections = Math.min(most, DUET_CONNECTIONS);
  for (const last of [false, true]) {
    const seen = await together(session, pair, endpoint, { connections, seconds: amount.duetSeconds });
    const [a, b] = seen as [Measured, Measured];
    const atOnce = Math.min(overlap([a.load, b.load]), a.load.overlap, b.load.overlap);
    const usable = atOnce >= LEAST_OVERLAP && !seen.some(({ load }) => isFailing(load));
    const slice = nextSlice(session);
    await keep(
      session,
      seen.map((one, i) => ({
        ...common(session, block, slice, endpoint, one),
        kind: "duet",
        connections,
        partner: (pair[1 - i] as Target).name,
        targetRate: null,
        verdict: usable ? null : "void",
      })),
    );
    if (usable || last) return;
  }
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

/** One target alone: as fast as answers come, or at a rate. */
export async function solo(
  session: Session,
  block: number,
  endpoint: string,
  target: Target,
  rate: number | null,
  seconds = session.manifest.plan.amount.soloSeconds,
  connections = session.manifest.plan.connections,
): Promise<Slice> {
  const { manifest } = session;
  const calibration = manifest.calibration[target.name]?.[endpoint];
  const options = { connections, seconds, rate: rate ?? undefined, resolutionSeconds: calibration?.resolutionSeconds };
  const one = await alone(session, target, endpoint, options);
  const { load: seen, usage } = one;
  const slice: Slice = {
    ...common(session, block, nextSlice(session), endpoint, one),
    kind: rate === null ? "closed" : "open",
    connections,
    partner: null,
    targetRate: rate,
    verdict: verdictOf({
      ...seen,
      ...usage,
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
  await keep(session, [slice, ...ofSteps.map(({ slice }) => slice)]);
  manifest.histograms[target.name] ??= {};
  const ofTarget = manifest.histograms[target.name] as Record<string, Histogram>;
  for (const { endpoint: of, histogram } of [{ endpoint, histogram: seen.histogram }, ...ofSteps]) {
    ofTarget[of] = merge([ofTarget[of] ?? [], histogram]);
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

function common(
  { manifest }: Session,
  block: number,
  slice: number,
  endpoint: string,
  { target, load, usage }: Measured,
) {
  const { identity } = target;
  const version = (of: { name: string; version: string | null } | undefined) =>
    of ? [of.name, of.version].join(" ").trim() : null;
  return {
    name: target.name,
    endpoint,
    ...seenBy(load, load.seconds),
    cpuUsPerRequest: usage.cpuUsPerRequest,
    rssBytes: usage.rssBytes,
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
    busiest: usage.busiest,
    peakRssBytes: usage.peakRssBytes,
    startupMs: target.startupMs,
    generatorCpu: load.generatorCpu,
    bytesPerRequest: load.bytesPerRequest,
  };
}

async function keep(session: Session, slices: Slice[]): Promise<void> {
  await appendSlices(session.results, slices);
  session.slices.push(...slices);
  session.manifest.seconds.loaded += slices[0]?.seconds ?? 0;
}

/** Length of one attempt of the search: overload by 1 % must show as a queue longer than the promise. */
const attemptSeconds = ({ limitMs }: Slo) => Math.min(10, Math.max(2, limitMs / 10));

/** About the seconds of one search, after which the next start or endpoint comes. */
const searchSeconds = (slo: Slo) => 10 * attemptSeconds(slo);
export const capacitySeconds = ({ targets, endpoints }: Plan, slo: Slo): number =>
  STARTS * targets.length * endpoints.length * searchSeconds(slo);

/**
 * The highest rate at which a target keeps a promise, at each endpoint; all targets in turn, as often as it takes for an
 * interval, freshly started each time unless they run already.
 */
export async function measureCapacity(
  session: Session,
  slo: Slo,
  tell: (name: string, endpoint: string, capacity: Capacity) => void,
): Promise<void> {
  const { plan, capacities } = session.manifest;
  const brackets = new Map<string, Bracket[]>();
  for (let start = 1; start <= STARTS; start++) {
    for (const spec of plan.targets) {
      await withTargets(session, [spec], async ([target]) => {
        if (!target) return;
        await warmRestarted(session, [target], plan.endpoints);
        await calibrateGenerator(session, [target]);
        for (const endpoint of plan.endpoints) {
          await warmEndpoint(session, [target], endpoint);
          await calibrateTargets(session, [target], endpoint, () => slo.limitMs);
          const attempt = (rate: number) => tryRate(session, start, endpoint, target, rate, slo);
          const { goodput } = await solo(session, start, endpoint, target, null, 1);
          const key = `${target.name} ${endpoint}`;
          const found = brackets.get(key) ?? [];
          const kept = found.at(-1)?.low;
          found.push(await (kept ? searchCapacity(attempt, kept, 1.1) : searchCapacity(attempt, goodput, 2)));
          brackets.set(key, found);
          const capacity = capacityOf(found);
          capacities[target.name] = { ...capacities[target.name], [endpoint]: { ...capacity, slo } };
          session.progress.done(searchSeconds(slo));
          if (start === STARTS) tell(target.name, endpoint, capacity);
        }
      });
    }
  }
}

const MOST_CONNECTIONS = 2_000;

async function tryRate(
  session: Session,
  start: number,
  endpoint: string,
  target: Target,
  rate: number,
  slo: Slo,
): Promise<Trial> {
  session.progress.now(`${target.name} ${endpoint}: ${rate.toFixed(0)} requests/s, start ${start} of ${STARTS}`);
  // Enough connections that an answer within the promise delays no later send, few that sends stay even.
  const connections = Math.min(MOST_CONNECTIONS, Math.ceil((rate * slo.limitMs * 1.5) / 1e3));
  const seconds = Math.max(attemptSeconds(slo), (10 * connections) / rate);
  const slice = await solo(session, start, endpoint, target, rate, seconds, connections);
  const steps = session.slices.filter((one) => one.slice === slice.slice && isStep(one.endpoint));
  return judge(slice, steps.length > 0 ? steps : [slice], slo);
}

/** @param of whose latency the promise is: of a sequence, each of its steps keeps it */
function judge(slice: Slice, of: readonly Slice[], { percentile, limitMs }: Slo): Trial {
  const field = ({ 50: "p50Ms", 90: "p90Ms", 99: "p99Ms", 99.9: "p999Ms" } as const)[percentile];
  const slow = of.toSorted((a, b) => b[field] - a[field])[0] as Slice;
  if (slow[field] >= limitMs) {
    const where = slow.endpoint === slice.endpoint ? "" : ` of ${slow.endpoint}`;
    return { kept: false, why: `p${percentile}${where} was ${slow[field].toFixed(1)} ms` };
  }
  if (slice.verdict === "on schedule") return { kept: true, why: "" };
  const late = `an answer took ${slice.maxMs.toFixed(0)} ms and held up later sends, so p${percentile} is not what users see`;
  return { kept: false, why: slice.verdict === "service time" ? late : `the slice was ${slice.verdict}` };
}
