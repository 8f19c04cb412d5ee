/** A session with simulated servers, generators and clock: the cost of a request is given, and nothing waits. */
import { generateMersenne53Randomizer } from "@faker-js/faker";
import jStat from "jstat";
import type { TargetSpec } from "../bench/ask/targets.ts";
import { type Load, PERCENTILES } from "../bench/load/fortio.ts";
import { percentile } from "../bench/load/histogram.ts";
import { isPaused, type Plan } from "../bench/plan/plan.ts";
import { startPlayer } from "../bench/run/players.ts";
import { newSession, resumeSession, type Session } from "../bench/run/session.ts";
import type { Target } from "../bench/run/targets/target.ts";
import { UsageError } from "../shared/errors.ts";

/** Standard deviations on the ln scale. */
export interface Noise {
  /** Between restarts of one server. */
  readonly restart: number;
  /** Between windows of 25 ms; one window in twenty is a burst that costs up to three times as much. */
  readonly window: number;
  /** Of the slowdown by the host, which lasts two seconds and hits all servers that run. */
  readonly host: number;
}
const BURSTS = 0.05;
const HOST_MS = 2_000;

/**
 * @param n requests that a server has answered since its start @param restart 1 for the first start of the target
 * @returns CPU µs of a request; null if the server crashes
 */
export type Cost = (spec: TargetSpec, endpoint: string, n: number, restart: number) => number | null;

export interface World {
  readonly cost: Cost;
  readonly noise: Noise;
}

/** Requests that cost the same, because schedules change only at multiples of it. */
const STEP = 500;
const [START_MS, WINDOW_MS] = [300, 25];

/** Answers the requests that check a target before it is loaded. */
const checks = Bun.serve({
  port: 0,
  fetch: ({ url }) => (url.endsWith("/plain") ? Response.json({ message: "Hello, world!" }) : Response.json(Array(5))),
});
checks.unref();

const progress = { now() {}, at() {}, say() {}, redraw() {}, stop() {} };

/** @param plan of servers on this machine @param results the file for slices and windows */
export async function simulate(plan: Plan, results: string, world: World, signal = never): Promise<Session> {
  // Plans a remote server, because then the session does not move this process to the generator's cores.
  const elsewhere = { kind: "url" as const, name: "elsewhere", url: "http://elsewhere.invalid" };
  const session = await newSession({ ...plan, targets: [elsewhere] }, results, progress, signal);
  Object.assign(session.manifest, { plan, ceiling: Number.MAX_VALUE });
  return simulated(session, world);
}
const never = new AbortController().signal;

/** Continues a simulated run. */
export const resume = async (run: string, results: string, world: World): Promise<Session> =>
  simulated(await resumeSession(run, results, never, () => progress), world);

/** A server that is up, or has crashed. */
interface Server {
  readonly spec: TargetSpec;
  readonly restart: number;
  /** Factor of this restart on the server's cost, and how strongly the host's slowdown hits the server. */
  readonly factor: number;
  readonly feels: number;
  answered: number;
  usedUs: number;
  isUp: boolean;
}

const randomizer = generateMersenne53Randomizer();
/** From 0 to 1. */
const random = () => randomizer.next();
const normal = (sd: number) => Math.exp(sd * jStat.randn());

/** Makes all random values after it reproducible. */
export function seed(number: number): void {
  randomizer.seed(number);
  jStat.setRandom(random);
}

interface Clock {
  ms: number;
}

/** Limits of what a server does; it stops at the first one. */
interface Work {
  readonly us?: number;
  readonly most?: number;
}

/** @returns a function that lets a server work up to the limits; a server that is down does nothing */
function serverOf({ cost, noise }: World, clock: Clock) {
  let host = { untilMs: 0, slowness: 0 };

  function answerWindow(server: Server, endpoint: string, { us = Infinity, most = Infinity }: Work) {
    if (clock.ms >= host.untilMs)
      host = { untilMs: clock.ms + HOST_MS, slowness: Math.abs(noise.host * jStat.randn()) };
    const burst = noise.window > 0 && random() < BURSTS ? 1 + 2 * random() : 1;
    const factor = server.factor * Math.exp(server.feels * host.slowness) * normal(noise.window) * burst;
    let [requests, cpuUs] = [0, 0];
    while (server.isUp && cpuUs < us && requests < most) {
      const each = cost(server.spec, endpoint, server.answered, server.restart);
      server.isUp = each !== null;
      if (each === null) break;
      const some = Math.min(STEP, Math.ceil((us - cpuUs) / (each * factor)), most - requests);
      requests += some;
      cpuUs += some * each * factor;
      server.answered += some;
    }
    server.usedUs += cpuUs;
    clock.ms += cpuUs / 1e3;
    return { requests, cpuUs };
  }

  return (server: Server, endpoint: string, { us = Infinity, most = Infinity }: Work) => {
    const done = { requests: 0, cpuUs: 0 };
    while (server.isUp && done.cpuUs < us && done.requests < most) {
      const left = { us: Math.min(WINDOW_MS * 1e3, us - done.cpuUs), most: most - done.requests };
      const { requests, cpuUs } = answerWindow(server, endpoint, left);
      done.requests += requests;
      done.cpuUs += cpuUs;
    }
    return done;
  };
}

function simulated(session: Session, world: World): Session {
  const clock: Clock = { ms: 0 };
  const answer = serverOf(world, clock);
  const servers: Server[] = [];
  const starts = new Map<string, number>();
  const serverAt = (url: string) => servers[Number(new URL(url).pathname.slice(1))] as Server;

  const start: Session["start"] = async (spec) => {
    const restart = (starts.get(spec.name) ?? 0) + 1;
    starts.set(spec.name, restart);
    clock.ms += START_MS;
    if (world.cost(spec, "start", 0, restart) === null) throw new UsageError(`${spec.name} did not start`);
    const [factor, feels] = [normal(world.noise.restart), 0.9 + 0.2 * random()];
    const server = { spec, restart, factor, feels, answered: 0, usedUs: 0, isUp: true };
    return targetOf(server, `http://127.0.0.1:${checks.port}/${servers.push(server) - 1}`);
  };
  const player: Session["player"] = async (of, game) => {
    const { target, scenario } = game;
    const { plan } = of.manifest;
    if (!isPaused(plan, scenario)) return startPlayer(of, game);
    const server = serverAt(target.url);
    const before = server.answered;
    return {
      target,
      windowMs: WINDOW_MS,
      play: async () => {
        const { requests, cpuUs } = answer(server, scenario.endpoint, { us: WINDOW_MS * 1e3 });
        return { seconds: cpuUs / 1e6, work: requests, cpuUs, databaseUs: null, poolerUs: null };
      },
      end: async () => ({
        requests: server.answered - before,
        errors: 0,
        failed: {},
        closed: 0,
        workPerRequest: 1,
        restUsPerSecond: null,
      }),
    };
  };
  const warm: Session["warm"] = async (_, { url }, endpoint, { requests }) =>
    void answer(serverAt(url), endpoint, { most: requests });
  const load: Session["load"] = async ({ url }, endpoint, { seconds, connections, rate }) => {
    const startedAt = clock.ms;
    const server = serverAt(url);
    const work = rate === undefined ? { us: seconds * 1e6 } : { most: Math.round(rate * seconds) };
    const { requests } = answer(server, endpoint, work);
    if (!server.isUp) throw new UsageError(`fortio could not load ${url}`);
    clock.ms = startedAt + seconds * 1e3;
    return loadOf(startedAt, seconds, connections, requests);
  };
  return { ...session, start, player, warm, load, now: () => clock.ms };
}

const targetOf = (server: Server, url: string): Target => ({
  spec: server.spec,
  name: server.spec.name,
  url,
  identity: null,
  pid: null,
  clocks: null,
  databaseUrl: null,
  startupMs: START_MS,
  read: async () => ({ cpuUs: server.usedUs, rssBytes: null, throttledMs: null, cores: 1 }),
  ended: () => (server.isUp ? null : "it crashed"),
  stop: async () => {},
});

function loadOf(startedAt: number, seconds: number, connections: number, requests: number): Load {
  const averageMs = (connections * seconds * 1e3) / requests;
  const histogram = [[0, (2 * averageMs) / 1e3, requests] as const];
  return {
    startedAt,
    seconds,
    requests,
    errors: 0,
    refused: 0,
    averageMs,
    maxMs: 2 * averageMs,
    goodput: requests / seconds,
    percentilesMs: Object.fromEntries(
      PERCENTILES.map((p) => [p, percentile(histogram, p) * 1e3]),
    ) as Load["percentilesMs"],
    histogram,
    sockets: connections,
    bytesPerRequest: 200,
    generatorCpu: null,
    overlap: 1,
  };
}
