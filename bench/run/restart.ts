/** One restart: starts and warms up every server; in each scenario, plays the rounds of windows, then a slice of each server. */
import { UsageError } from "../../shared/errors.ts";
import { isSequence, WORKLOADS } from "../ask/endpoints.ts";
import type { TargetSpec } from "../ask/targets.ts";
import { errorsOf, thenEnd } from "../host/clean-up.ts";
import { openEngine } from "../host/engine.ts";
import { takeFingerprint } from "../host/machine/fingerprint.ts";
import { mean } from "../judge/statistics.ts";
import { errorOf } from "../judge/turns.ts";
import { appendWindows, type Window } from "../keep/slices.ts";
import { ask } from "../load/ask.ts";
import { GeneratorEnded } from "../load/pausable.ts";
import { endpointsOf, isPaused, orderOf, type Plan, type Scenario } from "../plan/plan.ts";
import { randomOf } from "../plan/random.ts";
import { type Game, type Player, type Seen, warmAll } from "./players.ts";
import { remark, remarkCleanUp, type Session, sizeKey } from "./session.ts";
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
  const startAndUse = async () => {
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
    return use(session.up);
  };
  return thenEnd(
    startAndUse,
    () => session.up.map((target) => stop(session, target)),
    (error) => remarkCleanUp(session, error),
  );
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
  try {
    await verify(target, endpointsOf(plan), signal, plan);
  } catch (error) {
    for (const one of await errorsOf([target.stop()])) remarkCleanUp(session, one);
    throw error;
  }
  // Only now, because all that are up are measured.
  session.up = [...session.up, target];
  if (target.identity && WORKLOADS[plan.workload].store) manifest.stores[target.name] = target.identity.store;
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
  const players: Player[] = [];
  const lost: GeneratorEnded[] = [];
  let since = session.now();
  try {
    now("warm-up");
    for (const target of randomOf(plan.seed, restart).shuffle(session.up)) {
      const player = await attempt(session, { ...at, target }, session.player, lost);
      if (player) players.push(player);
      if (session.now() - since > MOST_REST_MS && isPaused(plan, scenario)) {
        for (const one of players) await one.play();
        since = session.now();
      }
    }
    // If none runs, no restart will have results.
    if (players.length === 0 && lost[0]) throw lost[0];
    now("rounds");
    const played = await playRounds(session, at, players);
    await keepTurns(session, at, played);
    const sliced = slicedAs(session, scenario, played);
    for (const { target } of isPaused(plan, scenario) ? played.players : []) {
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

/**
 * @param lost gets the error of a generator that has ended
 * @returns null if the target no longer answers, and the run leaves it out; or if its generator has ended, which is reported
 * @throws any other failure
 */
async function attempt<T>(
  session: Session,
  game: Game,
  use: (session: Session, game: Game) => Promise<T>,
  lost: GeneratorEnded[] = [],
): Promise<T | null> {
  try {
    return await use(session, game);
  } catch (error) {
    if (session.signal.aborted || !(error instanceof UsageError)) throw error;
    if (await isGone(session, game)) return null;
    if (!(error instanceof GeneratorEnded)) throw error;
    lost.push(error);
    const about = `${game.target.name} at ${game.scenario.name} in restart ${game.restart}: `;
    remark(session, about, `${about}${error.message}; its windows from then on do not count`);
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
  for (const error of await errorsOf([stop(session, target)])) remarkCleanUp(session, error);
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
  /** Those whose targets still answer. */
  readonly players: readonly Player[];
  /** Of each round: target name -> its window, if its generator still ran. */
  readonly rounds: readonly ReadonlyMap<string, Played>[];
  /** Number of first rounds that do not count. */
  readonly first: number;
}

async function playRounds(session: Session, at: At, all: readonly Player[]): Promise<Rounds> {
  const players = [...all];
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
  while (players.length > 0 && (rounds.length < wanted || !isEnough()))
    rounds.push(await playRound(session, at, order.shuffle(players), players));
  return { players: all.filter(({ target }) => session.up.includes(target)), rounds, first };
}

function roundsFor(plan: Plan, scenario: Scenario, players: readonly Player[]): number {
  if (!isPaused(plan, scenario)) return 1;
  const meanMs = mean(players.map(({ windowMs }) => windowMs));
  return Math.min(MOST_ROUNDS, Math.max(LEAST_ROUNDS, Math.round(plan.amount.turnMs / meanMs)));
}

/** ln cost of each player, round by round, without rounds in which one is not known. By time if a player's CPU time is never known. */
function costsOf(rounds: Rounds["rounds"], players: readonly Player[]): number[][] {
  const costs = players.map(({ target: { name } }) => {
    const own = rounds.map((round) => round.get(name));
    const field = own.some((played) => played && played.cpuUs !== null) ? "cpuUs" : "seconds";
    return own.map((played) => Math.log((played?.[field] ?? Number.NaN) / (played?.work ?? 0)));
  });
  const isKnown = rounds.map((_, round) => costs.every((of) => Number.isFinite(of[round])));
  return costs.map((of) => of.filter((_, round) => isKnown[round]));
}

/** Plays one window of each player. Removes a player from `players` if its target no longer answers, or its generator has ended. */
async function playRound(
  session: Session,
  at: At,
  order: readonly Player[],
  players: Player[],
): Promise<Rounds["rounds"][number]> {
  const round = new Map<string, Played>();
  for (const player of order) {
    session.signal.throwIfAborted();
    const game = { ...at, target: player.target };
    const played = await attempt(session, game, () => player.play());
    if (played === null || (played.work === 0 && (await isGone(session, game)))) {
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

/** Keeps what a generator saw in all its windows, and reports what is remarkable. */
async function keepSeen(session: Session, game: Game, windowMs: number, seen: Seen): Promise<void> {
  const { restart, scenario, target } = game;
  const { closed, workPerRequest: _, ...counted } = seen;
  if (seen.errors > 0) await remarkFailures(session, game, seen);
  if (closed > 0) {
    const about = `${target.name} closes its connections`;
    const each = Math.max(1, Math.round(seen.requests / closed));
    remark(session, about, `${about}, one in about ${each} requests; opening them again is part of what is measured`);
  }
  session.manifest.turns.push({ restart, scenario: scenario.name, name: target.name, windowMs, ...counted });
}

async function keepTurns(session: Session, at: At, { players, rounds, first }: Rounds): Promise<void> {
  const { manifest, results } = session;
  const all: Window[] = [];
  // All at once, because the last generator would lose its idle connections while it waits.
  const ends = await Promise.all(
    players.map(async ({ target, windowMs, end }) => {
      return { target, windowMs, seen: await attempt(session, { ...at, target }, end) };
    }),
  );
  for (const { target, windowMs, seen } of ends) {
    if (!session.up.includes(target)) continue;
    const common = { restart: at.restart, scenario: at.scenario.name, name: target.name };
    if (seen) await keepSeen(session, { ...at, target }, windowMs, seen);
    // Without its generator's result, a window can only be counted if the size of a request is known.
    const workPerRequest = seen?.workPerRequest ?? session.sizes.get(sizeKey(target, at.scenario.endpoint));
    if (workPerRequest === undefined) continue;
    for (const [n, round] of rounds.entries()) {
      const window = round.get(target.name);
      if (window === undefined) continue;
      const { work, ...played } = window;
      const counts = Number(n >= first);
      all.push({ ...common, round: n + 1, counts, ...played, requests: work / workPerRequest });
      if (counts) manifest.seconds.loaded += played.seconds;
    }
  }
  if (all.length > 0) appendWindows(results, manifest.run, all);
  session.windows.push(...all);
}
