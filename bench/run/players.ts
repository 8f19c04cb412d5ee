/** Loads a server in one scenario, with one generator that is paused between windows or with a new generator for each window. */
import { setTimeout as sleep } from "node:timers/promises";
import { isSequence, WORKLOADS } from "../ask/endpoints.ts";
import { pinned } from "../host/cores.ts";
import { usedBetween } from "../host/meter.ts";
import type { Turns } from "../keep/manifest.ts";
import { sumOf } from "../load/failed.ts";
import * as fortio from "../load/fortio.ts";
import * as k6 from "../load/k6.ts";
import { GeneratorEnded, type Pausable, sizeOfRequest, startPausable } from "../load/pausable.ts";
import { endpointsOf, isPaused, type Plan, type Scenario } from "../plan/plan.ts";
import { calibrate } from "./calibrate.ts";
import { remark, type Session, sizeKey } from "./session.ts";
import { solo } from "./solo.ts";
import { askedAt } from "./targets/answers.ts";
import type { Target } from "./targets/target.ts";
import { type Played, playWindow, type Turn } from "./turns.ts";

export interface Player {
  readonly target: Target;
  readonly windowMs: number;
  /** @param ms in place of windowMs @throws GeneratorEnded */
  play(ms?: number): Promise<Played>;
  /** Ends its generator. @throws GeneratorEnded if it had ended without a result */
  end(): Promise<Seen>;
}

/** What a generator saw in all its windows. */
export interface Seen extends Pick<Turns, "requests" | "errors" | "failed" | "restUsPerSecond"> {
  /** Connections that the server closed. */
  readonly closed: number;
  /** A window's work ÷ this = its requests. */
  readonly workPerRequest: number;
}

/** Enough that more connections do not lower the cost (32 raise that of the cheapest server by 3 %); few enough for a short pause. */
const TURN_CONNECTIONS = 64;
/** Length of a window ÷ latency under load, within the limits below; WAITING_LATENCIES if the server waits for something. */
const WINDOW_LATENCIES = 1;
const WAITING_LATENCIES = 4;
const LEAST_WINDOW_MS = 25;
const MOST_WINDOW_MS = 2_000;
/** Limit for all windows of a round together, because Node closes connections that are idle for 5 s. */
const MOST_ROUND_MS = 4_000;
/** Shortest window if the CPU clocks of the server's processes cannot be read, e.g. on another machine. */
const DISTANT_WINDOW_MS = 1_000;
/** Longer than any pause, because a request in flight must not time out during a pause. */
const TIMEOUT = "60s";
/** Longer than any scenario. */
const FOREVER_SECONDS = 3_600;
/** A server whose latency without load is at least this waits for something and is idle meanwhile; a faster one computes. */
const WAITING_MS = 2;
/** Minimum requests per connection before the first window, so that all connections are open. */
const FIRST_REQUESTS = 3;

/** One server in one scenario of one restart. */
export interface Game {
  readonly restart: number;
  readonly scenario: Scenario;
  readonly target: Target;
}

/** Starts the generator of a server. */
export const startPlayer = (session: Session, game: Game): Promise<Player> =>
  isPaused(session.manifest.plan, game.scenario) ? startPaused(session, game) : startRuns(session, game);

async function startPaused(session: Session, game: Game): Promise<Player> {
  const { endpoint, connections: most } = game.scenario;
  const { unloadedMs } = await calibrate(session, game.target, endpoint);
  const connections = Math.min(most, TURN_CONNECTIONS);
  const generator = await startGenerator(session, game.target, endpoint, connections);
  try {
    return await playWith(session, game, generator, { connections, unloadedMs });
  } catch (error) {
    await generator.end().catch(() => {});
    throw error;
  }
}

/** Opens all connections, and finds the length of the windows by trying one. */
async function playWith(
  session: Session,
  { scenario, target }: Game,
  generator: Pausable,
  { connections, unloadedMs }: { connections: number; unloadedMs: number },
): Promise<Player> {
  const { endpoint } = scenario;
  const { clocks } = target;
  const size = sizeAt(session, target, endpoint);
  await answered(session, generator, size, { connections, requests: 0, mostMs: 0 });
  await generator.pause();
  // A server that does not tell it now may have restarted: its window has no CPU time, and its requests show whether it is gone.
  const tell = () => target.read().catch(() => null);
  const turn: Turn = {
    generator,
    clocks,
    tell: clocks === null && target.identity !== null ? tell : null,
    quietMs: clocks === null ? 2 * unloadedMs : unloadedMs >= WAITING_MS ? 1.5 * unloadedMs : 0,
  };
  const key = `${target.name} ${scenario.name}`;
  const windowMs = session.windowMs.get(key) ?? (await windowFor(session, turn, { connections, size, unloadedMs }));
  session.windowMs.set(key, windowMs);
  /** CPU time (µs) and elapsed time (ms) between windows. */
  const rest = { us: 0, ms: 0 };
  const now = () => clocks && { cpuUs: clocks.all.cpuUs(), ms: performance.now() };
  let since: ReturnType<typeof now> = null;
  return {
    target,
    windowMs,
    play: async (ms = windowMs) => {
      const until = now();
      const us = usedBetween(since, until);
      if (us !== null) {
        rest.us += us;
        rest.ms += until && since ? until.ms - since.ms : 0;
      }
      const played = await playWindow(turn, ms);
      since = now();
      return played;
    },
    end: async () => {
      const seen = await endOf(session, target, endpoint, generator, connections);
      return { ...seen, restUsPerSecond: rest.ms > 0 ? (rest.us / rest.ms) * 1e3 : null };
    },
  };
}

/** Ends a generator. @returns what it saw */
async function endOf(
  session: Session,
  target: Target,
  endpoint: string,
  generator: Pausable,
  connections: number,
): Promise<Omit<Seen, "restUsPerSecond">> {
  const bytes = await generator.sent().catch(() => null);
  const output = JSON.parse(await generator.end());
  const isByK6 = isSequence(session.manifest.plan.workload, endpoint);
  const seen = isByK6 ? k6.toLoad(output) : fortio.toLoad(output, { connections: output.NumThreads });
  const { requests, errors, failed = {}, sockets, sentPerRequest } = seen;
  const key = sizeKey(target, endpoint);
  // With TLS, only the total of sent bytes tells the size of a request.
  if (isEncrypted(target) && requests > 0 && bytes !== null) session.sizes.set(key, bytes / requests);
  if (sentPerRequest && !session.sizes.has(key)) session.sizes.set(key, sentPerRequest);
  // The generator itself closes a connection whose request failed.
  const closed = isByK6 ? 0 : Math.max(0, sockets - errors - connections);
  return { requests, errors, failed, closed, workPerRequest: sizeAt(session, target, endpoint) };
}

/** Other work lengthens some tries, so the shortest latency of this many counts; of one if windows are long. */
const TRIES = 3;

/** Tries windows to see how long answers take under load. @returns the length of the next ones, ms */
async function windowFor(
  { up }: Session,
  turn: Turn,
  { connections, size, unloadedMs }: Readonly<Record<"connections" | "size" | "unloadedMs", number>>,
): Promise<number> {
  const least = turn.clocks === null ? DISTANT_WINDOW_MS : LEAST_WINDOW_MS;
  const most = Math.min(MOST_WINDOW_MS, MOST_ROUND_MS / up.length);
  const latencies: number[] = [];
  while (latencies.length < (turn.clocks === null ? 1 : TRIES)) {
    const { seconds, work } = await playWindow(turn, least);
    latencies.push((connections * seconds * 1e3 * size) / Math.max(work, size));
  }
  const latencyMs = Math.max(unloadedMs, Math.min(...latencies));
  const wanted = latencyMs * (turn.quietMs > 0 ? WAITING_LATENCIES : WINDOW_LATENCIES);
  return Math.max(least, Math.min(most, wanted));
}

/** Assumed size of a request with TLS or by k6, until its generator has counted the requests. */
const GUESSED_BYTES = 250;

const sizeAt = ({ sizes }: Session, target: Target, endpoint: string): number =>
  sizes.get(sizeKey(target, endpoint)) ?? GUESSED_BYTES;

const isEncrypted = ({ url }: Target): boolean => url.startsWith("https:");

async function startGenerator(
  session: Session,
  target: Target,
  endpoint: string,
  connections: number,
): Promise<Pausable> {
  const { manifest, signal, sizes } = session;
  const { plan, cores } = manifest;
  const on = cores?.generator;
  const options = { connections, seconds: FOREVER_SECONDS };
  if (isSequence(plan.workload, endpoint)) {
    fortio.needGenerator("k6");
    const command = k6.commandOf({ url: target.url, scale: plan.scale }, options);
    return startPausable(pinned(on, command), target.url, k6.INPUT);
  }
  fortio.needGenerator("fortio");
  const asked = askedAt(target, endpoint, plan.workload);
  const { host, pathname, search } = new URL(asked.url);
  const key = sizeKey(target, endpoint);
  if (!sizes.has(key) && !isEncrypted(target)) {
    const send = (origin: string) =>
      fortio.load({ ...asked, url: origin + pathname + search }, { connections: 1, seconds: 0.05 }, on, signal);
    sizes.set(key, await sizeOfRequest(send, host));
  }
  const command = fortio.commandOf(asked, options, { timeout: TIMEOUT });
  return startPausable(pinned(on, command), asked.url, {});
}

/** Longest wait until all connections are open. */
const MOST_OPENING_MS = 20_000;

/** A warm-up ends at the first of these limits. */
export interface Warming {
  readonly requests: number;
  readonly mostMs: number;
}

/** Waits until a generator has opened its connections and sent `requests`, at most `mostMs`. @param size bytes of a request */
async function answered(
  { signal }: Session,
  generator: Pausable,
  size: number,
  { connections, requests, mostMs }: Warming & { readonly connections: number },
): Promise<void> {
  const until = async (bytes: number, mostMs: number) => {
    const since = performance.now();
    while ((await generator.sent()) < bytes && performance.now() - since < mostMs && !signal.aborted) await sleep(5);
    signal.throwIfAborted();
  };
  await until(size * FIRST_REQUESTS * connections, MOST_OPENING_MS);
  await until(size * requests, mostMs);
}

const AGENTS_WARM_SECONDS = 0.5;

/** Warms up a server at an endpoint. */
export async function warmAt(session: Session, target: Target, endpoint: string, warming: Warming): Promise<void> {
  const { agents } = session.manifest.plan;
  const { requests, mostMs } = warming;
  if (requests === 0) return;
  const connections = TURN_CONNECTIONS;
  if (agents.length > 0) {
    const seconds = Math.max(AGENTS_WARM_SECONDS, mostMs / 1e3);
    return void (await session.load(target, endpoint, { connections, seconds }));
  }
  const generator = await startGenerator(session, target, endpoint, connections);
  try {
    await answered(session, generator, sizeAt(session, target, endpoint), { ...warming, connections });
  } catch (error) {
    if (session.signal.aborted || !(error instanceof GeneratorEnded)) throw error;
    const about = `The warm-up of ${target.name} at ${endpoint} ended early: `;
    remark(session, about, about + error.message);
  } finally {
    await generator.end().catch(() => {});
  }
}

/** Time limit of a warm-up per planned request: heavier requests need fewer, so the limit may cut them off. */
const WARM_MS = 0.12;
/** Share of the full warm-up for endpoints other than the first. */
const OTHERS = 0.3;

/**
 * Warms up every server at every route, one server after the other, so that the cost of an endpoint does not depend on the
 * endpoints measured before it. Uses only the measured cores, because after a warm-up on more cores V8 compiles again.
 */
export async function warmAll(session: Session, targets: readonly Target[]): Promise<void> {
  const { warmRequests } = session.manifest.plan.amount;
  for (const target of targets) {
    session.progress.now(`${target.name}: warm-up`);
    for (const [endpoint, part] of routesOf(session.manifest.plan, target)) {
      const requests = Math.ceil(warmRequests * part);
      await session.warm(session, target, endpoint, { requests, mostMs: WARM_MS * requests });
    }
  }
}

/** @returns endpoints with their share of the warm-up: one per route and the user's own for a matrix server, else all of the run. */
function routesOf(plan: Plan, { identity }: Target): (readonly [endpoint: string, part: number])[] {
  const { warmed, endpoints: usual } = WORKLOADS[plan.workload];
  const asked = endpointsOf(plan);
  if (identity === null) return asked.map((endpoint, i) => [endpoint, i === 0 ? 1 : OTHERS]);
  const others = asked.filter((endpoint) => !(usual as readonly string[]).includes(endpoint));
  return [...Object.entries(warmed), ...others.map((endpoint) => [endpoint, OTHERS] as const)];
}

/** For a generator that cannot be paused (fixed rate, or on another machine): each window is a slice. */
async function startRuns(session: Session, game: Game): Promise<Player> {
  const { scenario, target } = game;
  const { soloSeconds } = session.manifest.plan.amount;
  await calibrate(session, target, scenario.endpoint);
  const seen = { requests: 0, errors: 0, failed: {}, closed: 0, workPerRequest: 1, restUsPerSecond: null };
  return {
    target,
    windowMs: soloSeconds * 1e3,
    async play() {
      const { slice, failed, databaseUs, poolerUs } = await solo(session, game);
      const { requests, errors, cpuUsPerRequest, seconds } = slice;
      seen.requests += requests;
      seen.errors += errors;
      seen.failed = sumOf([seen.failed, failed]);
      return { seconds, work: requests, cpuUs: cpuUsPerRequest && cpuUsPerRequest * requests, databaseUs, poolerUs };
    },
    end: async () => seen,
  };
}
