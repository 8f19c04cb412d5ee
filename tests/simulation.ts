/** A session whose servers, load and clock are simulated: what a request costs is given, and nothing waits. */
import jStat from "jstat";
import type { LocalSpec } from "../bench/ask/targets.ts";
import { type Load, PERCENTILES } from "../bench/load/fortio.ts";
import { percentile } from "../bench/load/histogram.ts";
import type { Plan } from "../bench/plan/plan.ts";
import { newSession, type Session } from "../bench/run/session.ts";
import { NO_HELPERS } from "../bench/run/targets/target.ts";
import type { Identity } from "../shared/identity.ts";

/** Standard deviations on the ln scale. */
export interface Noise {
  /** Of what a restart makes of a server's cost. */
  readonly restart: number;
  /** Of one slice. */
  readonly slice: number;
  /** Of what the host takes away from one moment to the next, from all that run at that moment. */
  readonly host: number;
}

/** @returns CPU µs of a request to a server that has answered `n` since its start */
export type Cost = (spec: LocalSpec, endpoint: string, n: number) => number;

/** One that says it is a server has duets without a process that could be watched. */
const IDENTITY: Identity = {
  server: "simulated",
  runtime: { name: "none", version: "0" },
  framework: { name: "none", version: null },
  driver: { name: "none", sqlite: "0" },
  store: { name: "none", driver: "none" },
  workers: 1,
  pid: 0,
  uptimeSeconds: 0,
  cpuUs: 0,
  rssBytes: 0,
};

/** Requests that cost the same: schedules change between thousands. */
const STEP = 500;

/** Answers what a target is asked before it is loaded. */
const checks = Bun.serve({
  port: 0,
  fetch: ({ url }) => (url.endsWith("/plain") ? Response.json({ message: "Hello, world!" }) : Response.json(Array(5))),
});
checks.unref();

/** @param plan of servers of this machine @param results where slices go */
export async function simulate(plan: Plan, results: string, cost: Cost, noise: Noise): Promise<Session> {
  const normal = (sd: number) => Math.exp(sd * jStat.randn());
  const progress = { now: () => {}, done: () => {}, say: () => {}, stop: () => {} };
  const session = await newSession(plan, null, results, progress, new AbortController().signal);
  session.manifest.ceiling = Number.POSITIVE_INFINITY;

  let clockMs = 0;
  let loaded = 0;
  let host = { atMs: Number.NaN, slowness: 1 };
  const servers = new Map<string, (endpoint: string, cpuUs: number) => number>();

  const start: Session["start"] = async (spec) => {
    const url = `http://127.0.0.1:${checks.port}/${servers.size + 1}`;
    const ofRestart = normal(noise.restart);
    let answered = 0;
    let usedUs = 0;
    servers.set(url, (endpoint, cpuUs) => {
      const factor = ofRestart * normal(noise.slice) * host.slowness;
      const before = answered;
      for (const until = usedUs + cpuUs; usedUs < until; ) {
        const each = factor * cost(spec, endpoint, answered);
        const requests = Math.min(STEP, Math.ceil((until - usedUs) / each));
        answered += requests;
        usedUs += requests * each;
      }
      return answered - before;
    });
    const read = async () => ({ cpuUs: usedUs, rssBytes: null, throttledMs: null, cores: 1 });
    return {
      name: spec.name,
      url,
      identity: IDENTITY,
      pid: null,
      helpers: NO_HELPERS,
      startupMs: 1,
      read,
      stop: async () => {},
    };
  };

  const load: Session["load"] = async (url, endpoint, { seconds, connections }) => {
    const startedAt = clockMs;
    if (host.atMs !== startedAt) host = { atMs: startedAt, slowness: Math.exp(Math.abs(noise.host * jStat.randn())) };
    loaded++;
    await Promise.resolve(); // until all that are loaded at this moment have begun
    const share = 1 / loaded;
    await Promise.resolve();
    loaded--;
    clockMs = startedAt + seconds * 1e3;
    const answer = servers.get(url) as (endpoint: string, cpuUs: number) => number;
    return loadOf(startedAt, seconds, connections, answer(endpoint, seconds * 1e6 * share));
  };
  const reference = await start({ kind: "local", name: "reference", command: [], env: {} }, undefined, session.signal);
  return { ...session, start, load, reference, now: () => clockMs };
}

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
    sockets: 0,
    bytesPerRequest: 200,
    generatorCpu: null,
    overlap: 1,
  };
}
