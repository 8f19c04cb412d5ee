/** One restart: starts and warms up every server; in each scenario, plays the rounds of windows, then a slice of each server. */
import { UsageError } from "../../shared/errors.ts";
import { isSequence, WORKLOADS } from "../ask/endpoints.ts";
import type { TargetSpec } from "../ask/targets.ts";
import { openEngine } from "../host/engine.ts";
import { takeFingerprint } from "../host/machine/fingerprint.ts";
import { mean } from "../judge/statistics.ts";
import { errorOf } from "../judge/turns.ts";
import { appendWindows, type Window } from "../keep/slices.ts";
import { ask } from "../load/ask.ts";
import { endpointsOf, isPaused, orderOf, type Plan, type Scenario } from "../plan/plan.ts";
import { randomOf } from "../plan/random.ts";
import { type Game, type Player, type Seen, warmAll } from "./players.ts";
import { remark, type Session, sizeKey } from "./session.ts";
import { solo } from "./solo.ts";
import { openStores } from "./stores/stores.ts";
import { askedAt, firstFailure, isInsecure, verify } from "./targets/answers.ts";
import { startContainer } from "./targets/container.ts";
import type { Target } from "./targets/target.ts";
import { attach } from "./targets/url.ts";
import type { Played } from "./turns.ts";

/** Measures the machine's speed before the first restart and after each one, while nothing is loaded. */
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
      for (const scenario of orderOf(plan, restart, scenarios)) await measureScenario(session, { restart, scenario });
    },
    restart,
  );
  manifest.restarts++;
}

/** Start order: up to three targets rotate, more are shuffled, because the target that starts first costs a little more. */
const inTurn = <T>({ seed }: Plan, restart: number, all: readonly T[]): T[] =>
  all.length <= 3
    ? [...all.slice(restart % all.length), ...all.slice(0, restart % all.length)]
    : randomOf(seed, -restart).shuffle(all);

/**
 * Starts and checks all targets, calls `use`, and stops all targets, also after an error.
 * @param restart from the second one on, a target that does not start is left out
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

/** Starts a target, or attaches to a running one, and checks each endpoint. */
async function startTarget(session: Session, spec: TargetSpec): Promise<void> {
  const { manifest, signal } = session;
  const { plan } = manifest;
  const target = await startOf(session, spec);
  session.up = [...session.up, target];
  if (target.identity && WORKLOADS[plan.workload].store) manifest.stores[target.name] = target.identity.store;
  await verify(target, endpointsOf(plan), signal, plan);
  for (const note of target.notes ?? []) remark(session, note, note);
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

/** While generators start, those that run already get a window this often, because servers close idle connections (Node after 5 s). */
const MOST_REST_MS = 2_000;

type At = Omit<Game, "target">;

async function measureScenario(session: Session, at: At): Promise<void> {
  const { restart, scenario } = at;
  const { plan } = session.manifest;
  const now = (what: string) => session.progress.now(`restart ${restart} ${scenario.name}: ${what}`);
  const alive = session.up.filter(({ name }) => !hasFailed(session, at, name));
  const players: Player[] = [];
  let since = session.now();
  try {
    now("warm-up");
    for (const target of randomOf(plan.seed, restart).shuffle(alive)) {
      const player = await attempt(session, { ...at, target }, session.player);
      if (player) players.push(player);
      if (session.now() - since > MOST_REST_MS && isPaused(plan, scenario)) {
        for (const one of players) await one.play();
        since = session.now();
      }
    }
    now("rounds");
    const played = await playRounds(session, at, players);
    await keepTurns(session, at, played);
    const sliced = slicedAs(session, scenario, played);
    for (const { target } of isPaused(plan, scenario) ? players : []) {
      if (!session.up.includes(target)) continue;
      now(`${target.name} without a pause`);
      await attempt(session, { restart, scenario: sliced, target }, solo);
    }
  } finally {
    // Also after an error or Ctrl-C: no generator stays, and no content item that a generator created.
    await Promise.all(players.map((player) => player.end().catch(() => {})));
  }
  session.save();
}

/** A scenario at the fixed rate of its slices (`latencyAt` × throughput of the slowest server), the same in all restarts. */
function slicedAs({ manifest: { plan }, rates, sizes }: Session, scenario: Scenario, played: Rounds): Scenario {
  if (plan.latencyAt === undefined) return scenario;
  const answered = played.players.map(({ target }) => {
    const size = sizes.get(sizeKey(target, scenario.endpoint)) ?? 1;
    const windows = played.rounds.flatMap((round) => round.get(target.name) ?? []);
    return (
      windows.reduce((sum, { work }) => sum + work, 0) / size / windows.reduce((sum, { seconds }) => sum + seconds, 0)
    );
  });
  const rate = rates.get(scenario.name) ?? Math.max(1, Math.round(plan.latencyAt * Math.min(...answered)));
  rates.set(scenario.name, rate);
  return { ...scenario, rate };
}

/** A server that fails a larger share of its requests skips the higher connection counts. */
const MOST_ERRORS = 0.01;

/** Whether a target failed with fewer connections in the same restart. */
const hasFailed = ({ slices }: Session, { restart, scenario: { endpoint, level } }: At, name: string): boolean =>
  level?.unit === "connections" &&
  slices.some(
    (one) =>
      one.name === name &&
      one.restart === restart &&
      one.endpoint === endpoint &&
      one.connections < level.value &&
      one.errors > MOST_ERRORS * one.requests,
  );

/** @returns null if the target no longer answers; the run then leaves it out. @throws any other failure */
async function attempt<T>(
  session: Session,
  game: Game,
  use: (session: Session, game: Game) => Promise<T>,
): Promise<T | null> {
  try {
    return await use(session, game);
  } catch (error) {
    if (session.signal.aborted || !(error instanceof UsageError) || !(await isGone(session, game))) throw error;
    return null;
  }
}

/** Whether a target no longer answers. If so, reports it and leaves it out. @throws UsageError if no target is left */
async function isGone(session: Session, { restart, scenario, target }: Game): Promise<boolean> {
  const { manifest, progress, signal } = session;
  const { workload } = manifest.plan;
  const isApp = target.identity === null && !isSequence(workload, scenario.endpoint);
  // An app gets no request that its user did not write.
  const request = isApp
    ? askedAt(target, scenario.endpoint, workload)
    : { url: `${target.url}/`, insecure: isInsecure(target.spec) };
  const failure = () =>
    ask(request, signal).then(
      () => null,
      (error: Error) => error.message,
    );
  const reason = target.ended() ?? (await failure());
  if (reason === null) return false;
  manifest.left.push({ name: target.name, restart, scenario: scenario.name, reason });
  await stop(session, target);
  const text = `${target.name} is gone at ${scenario.name} in restart ${restart}: ${reason}`;
  if (session.up.length === 0) throw new UsageError(text);
  progress.say(text);
  return true;
}

/** Fewer rounds are too imprecise; more rounds, or more time for each target, are worth less than another restart. */
const LEAST_ROUNDS = 6;
const MOST_ROUNDS = 20;
/** Times `turnMs`. In published runs 20 rounds take less than half of it, but over ssh reading CPU time takes a second per window. */
const MOST_TURNS = 10;

/** Share of the rounds that come first and do not count, because caches and compilers still adapt to the endpoint. */
const FIRST_PART = 0.25;
/** Rounds go on until the standard error of a level is about this (ln scale), because garbage collection and JIT disturb short windows. */
const ENOUGH = 0.025;

interface Rounds {
  readonly players: readonly Player[];
  /** Of each round: target name -> its window. */
  readonly rounds: readonly ReadonlyMap<string, Played>[];
  /** Number of first rounds that do not count. */
  readonly first: number;
}

async function playRounds(session: Session, at: At, players: Player[]): Promise<Rounds> {
  const { plan } = session.manifest;
  const wanted = roundsFor(plan, at.scenario, players);
  const order = randomOf(plan.seed, 1_000 * at.restart + plan.scenarios.indexOf(at.scenario));
  const rounds: ReadonlyMap<string, Played>[] = [];
  const first = Math.floor(wanted * FIRST_PART);
  const since = session.now();
  const isEnough = () =>
    !isPaused(plan, at.scenario) ||
    rounds.length >= MOST_ROUNDS ||
    session.now() - since > MOST_TURNS * plan.amount.turnMs * players.length ||
    errorOf(costsOf(rounds.slice(first), players)) < ENOUGH;
  while (rounds.length < wanted || !isEnough())
    rounds.push(await playRound(session, at, order.shuffle(players), players));
  return { players, rounds, first };
}

function roundsFor(plan: Plan, scenario: Scenario, players: readonly Player[]): number {
  if (!isPaused(plan, scenario)) return 1;
  const meanMs = mean(players.map(({ windowMs }) => windowMs));
  return Math.min(MOST_ROUNDS, Math.max(LEAST_ROUNDS, Math.round(plan.amount.turnMs / meanMs)));
}

/** ln cost of each player, round by round. */
const costsOf = (rounds: Rounds["rounds"], players: readonly Player[]) =>
  players.map(({ target: { name } }) =>
    rounds.map((round) => {
      const { cpuUs, seconds, work } = round.get(name) as Played;
      return Math.log((cpuUs ?? seconds) / work);
    }),
  );

/** Plays one window of each player. Removes a player, with its windows, from `players` if its target no longer answers. */
async function playRound(
  session: Session,
  at: At,
  order: readonly Player[],
  players: Player[],
): Promise<Rounds["rounds"][number]> {
  const round = new Map<string, Played>();
  for (const player of order) {
    session.signal.throwIfAborted();
    const played = await player.play();
    if (played.work === 0 && (await isGone(session, { ...at, target: player.target }))) {
      players.splice(players.indexOf(player), 1);
      await player.end().catch(() => {});
    } else round.set(player.target.name, played);
  }
  return round;
}

/** Reports failed requests, once per target and scenario. */
async function remarkFailures(session: Session, game: Game, { requests, errors, failed }: Seen): Promise<void> {
  const { target, scenario } = game;
  const statuses = Object.entries(failed).map(([status, n]) => `${status} × ${n}`);
  const { workload } = session.manifest.plan;
  const isUp = session.up.includes(target) && !isSequence(workload, scenario.endpoint);
  const example = isUp ? await firstFailure(target, scenario.endpoint, session.signal, workload) : null;
  const all = [...statuses, ...(example === null ? [] : [`e.g. ${example}`])].join(", ");
  const about = `${target.name} at ${scenario.name}: `;
  remark(session, about, `${about}${errors} of ${requests} requests failed${all && `: ${all}`}`);
}

async function keepTurns(session: Session, at: At, { players, rounds, first }: Rounds): Promise<void> {
  const { manifest, results } = session;
  const all: Window[] = [];
  // All at once, because the last generator would lose its idle connections while it waits.
  const ends = await Promise.all(players.map(async (player) => ({ ...player, seen: await player.end() })));
  for (const { target, windowMs, seen } of ends) {
    const { closed, workPerRequest, ...counted } = seen;
    const common = { restart: at.restart, scenario: at.scenario.name, name: target.name };
    if (seen.errors > 0) await remarkFailures(session, { ...at, target }, seen);
    if (closed > 0) {
      const about = `${target.name} closes its connections`;
      const each = Math.max(1, Math.round(seen.requests / closed));
      remark(session, about, `${about}, one in about ${each} requests; opening them again is part of what is measured`);
    }
    manifest.turns.push({ ...common, windowMs, ...counted });
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
