import { takeFingerprint } from "../machine/fingerprint.ts";
import { duration } from "../plan/duration.ts";
import { isStep, WORKLOADS } from "../plan/endpoints.ts";
import { nameOfTwin, originalOf } from "../plan/names.ts";
import { orderOf, type Plan } from "../plan/plan.ts";
import { isHere, type LocalSpec, type TargetSpec } from "../plan/targets.ts";
import type { Slice } from "../records/slices.ts";
import { percent } from "../report/format.ts";
import { openStores } from "../stores/stores.ts";
import { startContainer } from "../targets/container.ts";
import { type Cores, splitCores } from "../targets/cores.ts";
import { openEngine } from "../targets/engine.ts";
import { type Target, verify } from "../targets/target.ts";
import { attach } from "../targets/url.ts";
import { type Calibration, calibrate, ceiling, lineSpeed } from "./calibrate.ts";
import { lastBlock, type Session } from "./session.ts";
import { duet, solo } from "./slices.ts";
import { type Bracket, type Capacity, capacityOf, type Slo, STARTS, searchCapacity, type Trial } from "./slo.ts";
import { keepBaseline, warmEndpoint, warmRestarted } from "./warmup.ts";

export const coresFor = (plan: Plan): Cores | null =>
  plan.targets.every(isHere) && plan.agents.length === 0 ? splitCores() : null;

/** Measures all blocks that are still to be done. */
export async function measure(session: Session): Promise<void> {
  const { manifest } = session;
  while (manifest.blocks.length < manifest.plan.amount.blocks) {
    // A block that was interrupted keeps its number and its rows; whole endpoints of it count.
    const block = 1 + lastBlock(session);
    const since = session.now();
    session.progress.now(`block ${block}: start`);
    await lookAtMachine(session, block);
    await withTargets(session, manifest.plan.targets, (targets) => measureBlock(session, block, targets));
    await lookAtMachine(session, block);
    manifest.seconds.total += (session.now() - since) / 1e3;
  }
  session.save();
}

/** Before and after a block, while nothing is loaded. */
export async function lookAtMachine({ manifest, signal }: Session, block: number): Promise<void> {
  const seen = await takeFingerprint(manifest.cores, signal);
  if (seen) manifest.fingerprints.push({ block, ...seen });
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
      const same = targets.filter(({ name }) => originalOf(name) === target.name).length;
      const name = nameOfTwin(target.name, same + 1);
      targets.push({ ...target, name });
      if (target.identity && WORKLOADS[plan.workload].store) session.manifest.stores[name] = target.identity.store;
      await verify(target, plan.endpoints, signal);
    }
    session.keeper = session.keepAwake(session.manifest, targets);
    return await use(targets);
  } finally {
    await session.keeper?.stop();
    session.keeper = null;
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
  if (!spec.env.STORE) return session.start(spec, cores, signal);
  session.stores ??= openStores(signal);
  return session.start(spec, cores, signal, await session.stores.open(spec.env, cores));
}

async function measureBlock(session: Session, block: number, targets: Target[]): Promise<void> {
  const { manifest, progress } = session;
  const { plan } = manifest;
  const { restart, endpoint: endpointSeconds, once } = duration(plan);
  const names = targets.map(({ name }) => name);
  const named = new Map(targets.map((target) => [target.name, target]));
  const find = (name: string) => named.get(name) as Target;
  progress.now(`block ${block} warm-up`);
  await warmRestarted(session, targets, plan.endpoints);
  await keepBaseline(session, targets);
  progress.done(restart);
  if (manifest.ceiling === null) {
    progress.now("calibration");
    await calibrateGenerator(session, targets);
  }

  const steps = orderOf(plan, block, names, plan.targets.every(isBesideFirst(plan)) ? rivals(targets) : []);
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
  manifest.blocks.push({ block, steps, warmup: session.warmth });
  session.save();
}

/** Targets whose CPU time can be read. */
const rivals = (targets: readonly Target[]) =>
  targets.filter(({ pid, identity }) => pid !== null || identity !== null).map(({ name }) => name);

/** Whether a target is on the same machine as the first: only then does a duet cancel that machine's noise. */
const isBesideFirst = (plan: Plan) => (spec: TargetSpec) => {
  const host = (one: TargetSpec | undefined) =>
    one?.kind === "url" ? new URL(one.url).hostname : one?.kind === "docker" ? one.engine.address : "";
  return host(spec) === host(plan.targets[0]);
};

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
    await lookAtMachine(session, start);
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
          found.push(await searchCapacity(attempt, goodput, found.at(-1)?.low));
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
  const isStarved = slice.verdict === "starved";
  const kept = isStarved ? null : false;
  if (slow[field] >= limitMs) {
    const where = slow.endpoint === slice.endpoint ? "" : ` of ${slow.endpoint}`;
    const meanwhile = isStarved ? `, while the host or others had ${percent(slice.taken ?? 0)} of the cores' time` : "";
    return { kept, why: `p${percentile}${where} was ${slow[field].toFixed(1)} ms${meanwhile}` };
  }
  if (slice.verdict === "on schedule") return { kept: true, why: "" };
  const late = `an answer took ${slice.maxMs.toFixed(0)} ms and held up later sends, so p${percentile} is not what users see`;
  return { kept, why: slice.verdict === "service time" ? late : `the slice was ${slice.verdict}` };
}
