import { isStep, WORKLOADS } from "../ask/endpoints.ts";
import { nameOfTwin, originalOf, withoutLoad } from "../ask/names.ts";
import { isHere, type LocalSpec, machineOf, type TargetSpec } from "../ask/targets.ts";
import { type Cores, splitCores } from "../host/cores.ts";
import { openEngine } from "../host/engine.ts";
import { takeFingerprint } from "../host/machine/fingerprint.ts";
import { LEAST_WINDOWS } from "../judge/steadiness.ts";
import type { Slice } from "../keep/slices.ts";
import { duration } from "../plan/duration.ts";
import { orderOf, type Plan, rateAt, type Step } from "../plan/plan.ts";
import { percent } from "../tell/format.ts";
import { type Calibration, calibrate, ceiling, lineSpeed } from "./calibrate.ts";
import { lastBlock, type Session } from "./session.ts";
import { duet, solo } from "./slices.ts";
import { type Bracket, type Capacity, capacityOf, type Slo, STARTS, searchCapacity, type Trial } from "./slo.ts";
import { openStores } from "./stores/stores.ts";
import { startContainer } from "./targets/container.ts";
import { type Target, verify } from "./targets/target.ts";
import { attach } from "./targets/url.ts";
import { warmEndpoint, warmRestarted, warmthOf } from "./warmup.ts";

export const coresFor = (plan: Plan): Cores | null =>
  plan.targets.every(isHere) && plan.agents.length === 0 ? splitCores() : null;

/** Measures all blocks that are still to be done. */
export async function measure(session: Session): Promise<void> {
  const { manifest } = session;
  const isDone = () => manifest.blocks.length >= manifest.plan.amount.blocks;
  let since = session.now();
  if (!isDone()) await lookAtMachine(session, 1 + lastBlock(session));
  while (!isDone()) {
    // A block that was interrupted keeps its number and its rows; slices of one server alone count.
    const block = 1 + lastBlock(session);
    await measureBlock(session, block);
    await lookAtMachine(session, block);
    manifest.seconds.total += (session.now() - since) / 1e3;
    since = session.now();
  }
  session.save();
}

/** Before the first block and after each, while nothing is loaded. */
export async function lookAtMachine({ manifest, progress, signal }: Session, block: number): Promise<void> {
  progress.now(`block ${block}: how fast the machine is`);
  const seen = await takeFingerprint(manifest.cores, signal);
  if (seen) manifest.fingerprints.push({ block, ...seen });
}

/**
 * All targets up and checked, then all down, whatever happens.
 * @param names in this run, one for each of `specs`; their own, or those of twins, if left out
 */
export async function withTargets<T>(
  session: Session,
  specs: readonly TargetSpec[],
  use: (targets: Target[]) => Promise<T>,
  names: readonly string[] = [],
): Promise<T> {
  const targets: Target[] = [];
  try {
    for (const [i, spec] of specs.entries()) targets.push(await startTarget(session, spec, names[i]));
    return await use(targets);
  } finally {
    await stopAll(session);
  }
}

/** Starts a target, or attaches to one that runs, and asks it each endpoint once. @param name in this run; its own if left out */
async function startTarget(session: Session, spec: TargetSpec, name?: string): Promise<Target> {
  const { manifest, signal } = session;
  const { plan } = manifest;
  const started = await startOf(session, spec);
  const alike = session.up.filter((one) => originalOf(one.name) === started.name).length;
  const target = { ...started, name: name ?? nameOfTwin(started.name, alike + 1) };
  session.up = [...session.up, target];
  if (target.identity && WORKLOADS[plan.workload].store) manifest.stores[target.name] = target.identity.store;
  await verify(target, plan.endpoints, signal, plan.requests);
  return target;
}

async function stop(session: Session, target: Target): Promise<void> {
  session.up = session.up.filter((one) => one !== target);
  await target.stop();
}

const stopAll = (session: Session) => Promise.all(session.up.map((target) => stop(session, target)));

async function startOf(session: Session, spec: TargetSpec): Promise<Target> {
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
  session.stores ??= openStores(signal, manifest.plan.scale);
  return session.start(spec, cores, signal, await session.stores.open(spec.env, cores));
}

/** One turn after the other: see `orderOf`. */
async function measureBlock(session: Session, block: number): Promise<void> {
  const { manifest, progress } = session;
  const { plan } = manifest;
  const seats = await seatsOf(session);
  const rivals = plan.targets.every(isBesideFirst(plan)) ? seats.filter(({ canPlay }) => canPlay) : [];
  const turns = orderOf(plan, block, namesOf(seats), namesOf(rivals));
  session.warmth = {};
  try {
    for (const { name, partner, steps } of turns) {
      for (const one of session.up) if (one.name !== partner) await stop(session, one);
      progress.now(`block ${block} ${name}: start`);
      const { spec } = seats.find((seat) => seat.name === name) as Seat;
      const older = session.up.find((one) => one.name === partner);
      const target = await startTarget(session, spec, name);
      progress.now(`block ${block} ${name}: warm-up`);
      await warmRestarted(session, [target], plan.endpoints, older);
      await calibrateGenerator(session, target);
      progress.done(duration(plan).start);
      for (const step of steps) await takeStep(session, block, step, older ? [older, target] : [target]);
    }
  } finally {
    await stopAll(session);
  }
  manifest.blocks.push({ block, turns, warmup: session.warmth });
  session.save();
}

/** @param up the older of two, if there is one, and the younger */
async function takeStep(session: Session, block: number, { endpoint, duets, solo: name }: Step, up: readonly Target[]) {
  const { manifest, progress } = session;
  const { plan } = manifest;
  const { endpoint: endpointSeconds, once } = duration(plan);
  const target = up.at(-1) as Target;
  if (hasFailed(session, block, endpoint, name)) return progress.done(endpointSeconds);
  progress.now(`block ${block} ${name}: ${endpoint}`);
  // The older one is asked again where its windows are enough to tell whether it has changed, and the first of a ring once.
  const isAsked = (one: Target) =>
    one === target || plan.amount.windows >= LEAST_WINDOWS || warmthOf(session, one.name, endpoint).steady === null;
  const warmed = up.filter(isAsked);
  const latenciesMs = await warmEndpoint(session, warmed, endpoint);
  if (manifest.calibration[name]?.[endpoint] === undefined) {
    await calibrateTarget(session, target, endpoint, rateAt(plan, endpoint) === null ? latenciesMs[name] : null);
    progress.done(once);
  }
  for (const pair of duets) {
    const [a, b] = pair.map((one) => up.find((each) => each.name === one) as Target) as [Target, Target];
    await duet(session, block, endpoint, [a, b]);
  }
  await solo(session, block, endpoint, target, rateAt(plan, endpoint));
  progress.done(endpointSeconds);
  session.save();
}

/** More failed requests than this end a ladder. */
const MOST_ERRORS = 0.01;

/** Whether a target could not answer fewer connections in the same turn. */
function hasFailed({ manifest, slices }: Session, block: number, endpoint: string, name: string): boolean {
  const { ladder } = manifest.plan;
  return (
    ladder !== undefined &&
    slices.some(
      (one) =>
        one.name === name &&
        one.block === block &&
        withoutLoad(one.endpoint) === withoutLoad(endpoint) &&
        one.connections < (ladder[endpoint] as number) &&
        one.errors > MOST_ERRORS * one.requests,
    )
  );
}

/** A target of the plan under its name in this run, and whether its CPU time can be read. */
interface Seat {
  readonly name: string;
  readonly spec: TargetSpec;
  readonly canPlay: boolean;
}
const namesOf = (seats: readonly Seat[]) => seats.map(({ name }) => name);

/** What runs already is asked who it is; so a mistake is said before anything is measured. */
async function seatsOf(session: Session): Promise<Seat[]> {
  const seats: Seat[] = [];
  for (const spec of session.manifest.plan.targets) {
    const running = spec.kind === "url" ? await startTarget(session, spec) : null;
    const alike = seats.filter(({ name }) => originalOf(name) === spec.name).length;
    const name = running?.name ?? nameOfTwin(spec.name as string, alike + 1);
    seats.push({ name, spec, canPlay: running === null || running.pid !== null || running.identity !== null });
  }
  return seats;
}

/** Whether a target is on the same machine as the first: only then does a duet cancel that machine's noise. */
const isBesideFirst = (plan: Plan) => (spec: TargetSpec) =>
  machineOf(spec) === machineOf(plan.targets[0] as TargetSpec);

/** The generator, and the line to a target: each once. */
async function calibrateGenerator({ manifest, load, signal }: Session, target: Target): Promise<void> {
  const { plan, cores, lineBytesPerSecond } = manifest;
  if (target.pid === null && lineBytesPerSecond[target.name] === undefined)
    lineBytesPerSecond[target.name] = await lineSpeed(target, plan.connections, load);
  if (plan.agents.length === 0) manifest.ceiling ??= await ceiling(plan.connections, cores, signal);
}

async function calibrateTarget(
  { manifest, load }: Session,
  target: Target,
  endpoint: string,
  loadedMs: number | null | undefined,
): Promise<void> {
  manifest.calibration[target.name] ??= {};
  const ofTarget = manifest.calibration[target.name] as Record<string, Calibration>;
  ofTarget[endpoint] ??= await calibrate(target, endpoint, loadedMs ?? null, load);
}

/** How long each server is loaded to see how much it can answer; the best look counts, as a machine that is elsewhere answers less. */
const LOOK_SECONDS = 0.5;
const LOOKS = 3;

/** @returns how many requests per second all targets can answer at each endpoint: what the slowest reaches, alone, warm. */
export async function commonCapacity(session: Session): Promise<Map<string, number>> {
  const { plan } = session.manifest;
  const { connections, endpoints } = plan;
  const least = new Map<string, number>();
  for (const spec of plan.targets) {
    await withTargets(session, [spec], async (targets) => {
      const [target] = targets as [Target];
      session.progress.now(`${target.name}: how much it can answer`);
      await warmRestarted(session, targets, endpoints);
      for (const endpoint of endpoints) {
        let most = 0;
        for (let look = 0; look < LOOKS; look++) {
          const { goodput } = await session.load(target.url, endpoint, { connections, seconds: LOOK_SECONDS });
          most = Math.max(most, goodput);
        }
        least.set(endpoint, Math.min(most, least.get(endpoint) ?? Number.POSITIVE_INFINITY));
      }
    });
  }
  return least;
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
        await calibrateGenerator(session, target);
        for (const endpoint of plan.endpoints) {
          await warmEndpoint(session, [target], endpoint);
          await calibrateTarget(session, target, endpoint, slo.limitMs);
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
