/** One restart: every server is started, warmed, and takes its turns at each scenario; then a slice of each alone. */
import { UsageError } from "../../shared/errors.ts";
import { isSequence, WORKLOADS } from "../ask/endpoints.ts";
import type { TargetSpec } from "../ask/targets.ts";
import { openEngine } from "../host/engine.ts";
import { takeFingerprint } from "../host/machine/fingerprint.ts";
import { errorOf } from "../judge/turns.ts";
import { appendWindows, type Window } from "../keep/windows.ts";
import { endpointsOf, isPaused, orderOf, type Plan, randomOf, type Scenario } from "../plan/plan.ts";
import { calibrateGenerator } from "./calibrate.ts";
import type { Player, Seen } from "./players.ts";
import { remark, type Session, sizeKey } from "./session.ts";
import { solo } from "./solo.ts";
import { openStores } from "./stores/stores.ts";
import { firstFailure, isInsecure, verify } from "./targets/answers.ts";
import { startContainer } from "./targets/container.ts";
import { readIdentity, type Target } from "./targets/target.ts";
import { attach } from "./targets/url.ts";
import type { Played } from "./turns.ts";
import { warmAll } from "./warm.ts";

/** Before the first restart and after each, while nothing is loaded. */
export async function lookAtMachine({ manifest, progress, signal }: Session, restart: number): Promise<void> {
  progress.now(`restart ${restart}: machine speed`);
  const seen = await takeFingerprint(manifest.cores, signal);
  if (seen) manifest.fingerprints.push({ restart, ...seen });
}

/** @param scenarios those of the plan that are still to be measured */
export async function measureRestart(session: Session, restart: number, scenarios: readonly Scenario[]): Promise<void> {
  const { manifest } = session;
  const { plan } = manifest;
  const left = new Set(manifest.left.map(({ name }) => name));
  const specs = plan.targets.filter(({ name }) => !left.has(name));
  await withTargets(
    session,
    inTurn(plan, restart, specs),
    async (targets) => {
      await warmAll(session, targets);
      for (const scenario of orderOf(plan, restart, scenarios)) await measureScenario(session, restart, scenario);
    },
    restart,
  );
  manifest.restarts++;
}

/** The order of starts: few targets rotate, many are shuffled. The one that is started first is a little dearer. */
const inTurn = <T>({ seed }: Plan, restart: number, all: readonly T[]): T[] =>
  all.length <= 3
    ? [...all.slice(restart % all.length), ...all.slice(0, restart % all.length)]
    : randomOf(seed, -restart).shuffle(all);

/**
 * All targets up and checked, then all down, whatever happens.
 * @param restart the second and later ones go on without a target that does not start
 */
export async function withTargets<T>(
  session: Session,
  specs: readonly TargetSpec[],
  use: (targets: readonly Target[]) => Promise<T>,
  restart = 1,
): Promise<T> {
  const { manifest } = session;
  try {
    for (const spec of specs) {
      session.progress.now(`${spec.name}: start`);
      try {
        await startTarget(session, spec);
      } catch (error) {
        if (restart === 1 || session.signal.aborted || !(error instanceof UsageError)) throw error;
        manifest.left.push({ name: spec.name, restart, scenario: null, reason: error.message });
        if (manifest.left.length === manifest.plan.targets.length) throw error;
      }
    }
    return await use(session.up);
  } finally {
    await Promise.all(session.up.map((target) => stop(session, target)));
  }
}

async function stop(session: Session, target: Target): Promise<void> {
  session.up = session.up.filter((one) => one !== target);
  await target.stop();
}

/** Starts a target, or attaches to one that runs, and asks it each endpoint once. */
async function startTarget(session: Session, spec: TargetSpec): Promise<void> {
  const { manifest, signal } = session;
  const { plan } = manifest;
  const target = await startOf(session, spec);
  session.up = [...session.up, target];
  if (target.identity && WORKLOADS[plan.workload].store) manifest.stores[target.name] = target.identity.store;
  await verify(target, endpointsOf(plan), signal, plan);
  for (const note of target.notes ?? []) remark(session, note, note);
  await calibrateGenerator(session, target);
}

async function startOf(session: Session, spec: TargetSpec): Promise<Target> {
  const { manifest, signal } = session;
  const cores = manifest.cores?.server;
  if (spec.kind === "url") return attach(spec, signal);
  if (spec.kind === "docker") {
    if (session.engine === null) {
      session.engine = await openEngine(spec.engine, signal);
      manifest.environment = { ...manifest.environment, engine: session.engine.facts };
    }
    return startContainer(session.engine, spec, cores, signal);
  }
  if (!spec.env.STORE) return session.start(spec, cores, signal);
  session.stores ??= openStores(signal, manifest.plan.scale);
  return session.start(spec, cores, signal, await session.stores.open(spec.env, cores));
}

/** Servers close connections that are idle for longer, Node after 5 s: until all generators run, those that do get a window now and then. */
const MOST_REST_MS = 2_000;

async function measureScenario(session: Session, restart: number, scenario: Scenario): Promise<void> {
  const { manifest, progress } = session;
  const alive = session.up.filter(({ name }) => !hasFailed(session, restart, scenario, name));
  const players: Player[] = [];
  let since = session.now();
  try {
    progress.now(`restart ${restart} ${scenario.name}: warm-up`);
    for (const target of randomOf(manifest.plan.seed, restart).shuffle(alive)) {
      const player = await attempt(session, restart, scenario, target, () =>
        session.player(session, { restart, scenario, target }),
      );
      if (player) players.push(player);
      if (session.now() - since > MOST_REST_MS && isPaused(manifest.plan, scenario)) {
        for (const one of players) await one.play();
        since = session.now();
      }
    }
    progress.now(`restart ${restart} ${scenario.name}: turns`);
    const played = await playRounds(session, restart, scenario, players);
    await keepTurns(session, restart, scenario, played);
    if (isPaused(manifest.plan, scenario))
      await sliceEach(session, restart, slicedAs(session, scenario, played), players);
  } finally {
    // What was interrupted, or failed, leaves no generator, and nothing that one has created.
    await Promise.all(players.map((player) => player.end().catch(() => {})));
  }
  session.save();
}

async function sliceEach(
  session: Session,
  restart: number,
  scenario: Scenario,
  players: readonly Player[],
): Promise<void> {
  for (const { target } of players) {
    if (!session.up.includes(target)) continue;
    session.progress.now(`restart ${restart} ${scenario.name}: ${target.name} without a pause`);
    await attempt(session, restart, scenario, target, () => solo(session, restart, scenario, target));
  }
}

/** A scenario at the rate of its slices, which stays the same in all restarts. */
function slicedAs(
  { manifest: { plan }, rates, sizes }: Session,
  scenario: Scenario,
  { players, rounds }: Rounds,
): Scenario {
  if (plan.latencyAt === undefined) return scenario;
  const answered = players.map(({ target }) => {
    const size = sizes.get(sizeKey(target, scenario.endpoint)) ?? 1;
    const windows = rounds.flatMap((round) => round.get(target.name) ?? []);
    return (
      windows.reduce((sum, { work }) => sum + work, 0) / size / windows.reduce((sum, { seconds }) => sum + seconds, 0)
    );
  });
  const rate = rates.get(scenario.name) ?? Math.max(1, Math.round(plan.latencyAt * Math.min(...answered)));
  rates.set(scenario.name, rate);
  return { ...scenario, rate };
}

/** A server that fails a larger part of its requests gets no further step of a ladder. */
const MOST_ERRORS = 0.01;

/** Whether a target could not answer fewer connections in the same restart. */
const hasFailed = ({ slices }: Session, restart: number, { endpoint, level }: Scenario, name: string): boolean =>
  level?.unit === "connections" &&
  slices.some(
    (one) =>
      one.name === name &&
      one.restart === restart &&
      one.endpoint === endpoint &&
      one.connections < level.value &&
      one.errors > MOST_ERRORS * one.requests,
  );

/** @returns null if the target is gone, which is then left out. @throws any other failure */
async function attempt<T>(
  session: Session,
  restart: number,
  scenario: Scenario,
  target: Target,
  use: () => Promise<T>,
): Promise<T | null> {
  try {
    return await use();
  } catch (error) {
    if (session.signal.aborted || !(error instanceof UsageError)) throw error;
    const reason = await goneReason(session, target);
    if (reason === null) throw error;
    await leave(session, restart, scenario, target, reason);
    return null;
  }
}

/** @returns why a target no longer answers; null if it answers. */
async function goneReason({ signal }: Session, target: Target): Promise<string | null> {
  const ended = target.ended();
  if (ended !== null) return ended;
  return readIdentity(target.url, signal, isInsecure(target.spec)).then(
    () => null,
    (error: Error) => error.message,
  );
}

/** A target that is gone is named and left out; the others go on. @throws UsageError if there are none */
async function leave(
  session: Session,
  restart: number,
  scenario: Scenario,
  target: Target,
  reason: string,
): Promise<void> {
  const { manifest, progress } = session;
  manifest.left.push({ name: target.name, restart, scenario: scenario.name, reason });
  await stop(session, target);
  const text = `${target.name} is gone at ${scenario.name} in restart ${restart}: ${reason}`;
  if (session.up.length === 0) throw new UsageError(text);
  progress.say(text);
}

/** Fewer rounds than this say too little; more are worth less than another restart. */
const LEAST_ROUNDS = 6;
const MOST_ROUNDS = 20;

/** The first rounds, in which caches and compilers come to what is asked now, do not count. */
const FIRST_PART = 0.25;
/** Rounds go on until levels are known to about so much, ln scale: collectors and compilers burst into windows of light requests. */
const ENOUGH = 0.025;

async function playRounds(session: Session, restart: number, scenario: Scenario, players: Player[]): Promise<Rounds> {
  const { plan } = session.manifest;
  const wanted = roundsFor(plan, scenario, players);
  const order = randomOf(plan.seed, 1_000 * restart + plan.scenarios.indexOf(scenario));
  const rounds: ReadonlyMap<string, Played>[] = [];
  const first = Math.floor(wanted * FIRST_PART);
  const isEnough = () =>
    !isPaused(plan, scenario) ||
    rounds.length >= MOST_ROUNDS ||
    errorOf(costsOf(rounds.slice(first), players)) < ENOUGH;
  while (rounds.length < wanted || !isEnough())
    rounds.push(await playRound(session, restart, scenario, order.shuffle(players), players));
  return { players, rounds, first };
}

function roundsFor(plan: Plan, scenario: Scenario, players: readonly Player[]): number {
  if (!isPaused(plan, scenario)) return 1;
  const meanMs = players.reduce((sum, { windowMs }) => sum + windowMs, 0) / players.length;
  return Math.min(MOST_ROUNDS, Math.max(LEAST_ROUNDS, Math.round(plan.amount.turnMs / meanMs)));
}

/** ln cost of each player, round by round. */
const costsOf = (rounds: readonly ReadonlyMap<string, Played>[], players: readonly Player[]) =>
  players.map(({ target: { name } }) =>
    rounds.map((round) => {
      const { cpuUs, seconds, work } = round.get(name) as Played;
      return Math.log((cpuUs ?? seconds) / work);
    }),
  );

/** One window for each. One that is gone is taken out of `players`, and its windows with it. */
async function playRound(
  session: Session,
  restart: number,
  scenario: Scenario,
  order: readonly Player[],
  players: Player[],
): Promise<ReadonlyMap<string, Played>> {
  const round = new Map<string, Played>();
  for (const player of order) {
    session.signal.throwIfAborted();
    const { target } = player;
    if (!players.includes(player)) continue;
    const played = await player.play();
    if (played.work === 0) {
      const reason = await goneReason(session, target);
      if (reason !== null) {
        players.splice(players.indexOf(player), 1);
        await player.end().catch(() => {});
        await leave(session, restart, scenario, target, reason);
        continue;
      }
    }
    round.set(target.name, played);
  }
  return round;
}

interface Rounds {
  readonly players: readonly Player[];
  readonly rounds: readonly ReadonlyMap<string, Played>[];
  /** How many of them do not count. */
  readonly first: number;
}

/** Says what failing answers are, once for each target and scenario. */
async function remarkFailures(
  session: Session,
  target: Target,
  { name, endpoint }: Scenario,
  { requests, errors, failed }: Pick<Seen, "requests" | "errors" | "failed">,
): Promise<void> {
  const statuses = Object.entries(failed).map(([status, n]) => `${status} × ${n}`);
  const isUp = session.up.includes(target) && !isSequence(session.manifest.plan.workload, endpoint);
  const example = isUp ? await firstFailure(target, endpoint, session.signal) : null;
  const all = [...statuses, ...(example === null ? [] : [`e.g. ${example}`])].join(", ");
  const about = `${target.name} at ${name}: `;
  remark(session, about, `${about}${errors} of ${requests} requests failed${all && `: ${all}`}`);
}

async function keepTurns(session: Session, restart: number, scenario: Scenario, of: Rounds): Promise<void> {
  const { manifest, results } = session;
  const { players, rounds, first } = of;
  const all: Window[] = [];
  // At once, because the last would have lost its connections until it is its turn.
  const ends = await Promise.all(players.map(async (player) => ({ player, ...(await player.end()) })));
  for (const { player, requests, errors, failed, closed, workPerRequest, restUsPerSecond } of ends) {
    const { target } = player;
    const common = { restart, scenario: scenario.name, name: target.name };
    if (errors > 0) await remarkFailures(session, target, scenario, { requests, errors, failed });
    if (closed > 0) {
      const about = `${target.name} closes its connections`;
      const each = Math.max(1, Math.round(requests / closed));
      remark(session, about, `${about}, one in about ${each} requests; opening them again is part of what is measured`);
    }
    manifest.turns.push({
      ...common,
      windowMs: player.windowMs,
      requests,
      errors,
      failed,
      restUsPerSecond,
    });
    for (const [n, round] of rounds.entries()) {
      const { work, ...played } = round.get(target.name) as Played;
      const counts = Number(n >= first);
      all.push({ ...common, round: n + 1, counts, ...played, requests: work / workPerRequest });
      if (counts) manifest.seconds.loaded += played.seconds;
    }
  }
  if (all.length > 0) appendWindows(results, manifest.run, all);
  session.windows.push(...all);
}
