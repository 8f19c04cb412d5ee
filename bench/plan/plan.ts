import { UsageError } from "../../shared/errors.ts";
import { SEQUENCE, TRANSACTION, WORKLOADS, type Workload } from "../ask/endpoints.ts";
import type { HttpFile } from "../ask/http-file.ts";
import { isOurPost } from "../ask/requests.ts";
import { baseOf, type LocalSpec, onStore, parseTarget, type TargetSpec } from "../ask/targets.ts";
import type { EngineSpec } from "../host/engine.ts";
import type { Request, Requests } from "../load/request.ts";
import { hiddenText } from "../load/secrets.ts";
import { AGENTS_SECONDS, type Amount, amountOf, FEW, type Preset } from "./presets.ts";
import { randomOf } from "./random.ts";

/** Requests per second, or connections. */
export interface Level {
  readonly unit: "requests/s" | "connections";
  readonly value: number;
}

/** One way to load one endpoint: one table of a report. */
export interface Scenario {
  /** The endpoint, with the load level if there are several. */
  readonly name: string;
  readonly endpoint: string;
  readonly connections: number;
  /** Requests/s; null for a closed loop. */
  readonly rate: number | null;
  /** The load level; null if the endpoint has only one. */
  readonly level: Level | null;
}

export interface Plan {
  readonly workload: Workload;
  /** Branches in pgbench's tables (--workload tpcb only). */
  readonly scale?: number;
  /** Names are unique. If there is a twin, it is the last one. */
  readonly targets: readonly TargetSpec[];
  readonly scenarios: readonly Scenario[];
  /** Requests of endpoints that are more than the method and path of their name. */
  readonly requests?: Requests;
  /** The .http file, if some values in its requests come from the running server. */
  readonly live?: HttpFile;
  readonly connections: number;
  readonly preset: Preset;
  readonly amount: Amount;
  /** `host:port` of the fortio servers that make the load; empty for a generator on this machine. */
  readonly agents: readonly string[];
  /** If given, slices run at this share of the slowest target's requests/s in its first turns, so that latencies are what users see. */
  readonly latencyAt?: number;
  readonly seed: number;
}

export interface Options {
  readonly workload?: Workload | undefined;
  readonly scale?: number | undefined;
  readonly urls: readonly string[];
  readonly names: readonly string[];
  readonly servers: readonly string[];
  readonly apps?: readonly LocalSpec[];
  readonly engine?: EngineSpec | undefined;
  readonly endpoints: readonly string[];
  readonly requests?: Requests | undefined;
  readonly live?: HttpFile | undefined;
  /** Accepts any certificate of servers at URLs. */
  readonly insecure?: boolean | undefined;
  readonly agents?: readonly string[];
  readonly connections: number;
  readonly preset: Preset;
  /** Override the preset: length of the run, length of each slice, warm-up requests after a restart. */
  readonly minutes?: number | undefined;
  readonly seconds?: number | undefined;
  readonly warmup?: number | undefined;
  readonly rate?: number | undefined;
  /** Leaves out the twin. */
  readonly once?: boolean;
  readonly seed: number;
}

/** Default of --scale: about 150 MB. */
const SCALE = 10;

/** @throws UsageError for servers that cannot be measured together. */
function checkTargets({ engine, urls, names }: Options, apps: readonly LocalSpec[]): void {
  if (engine && urls.length + apps.length > 0) {
    const what = urls.length > 0 ? "a URL" : "--start";
    throw new UsageError(`--docker cannot be combined with ${what}: leave out one of them`);
  }
  const fixed = apps.find(({ app }) => app?.port);
  if (fixed && apps.length > 1) {
    throw new UsageError(`--port ${fixed.app?.port} works for one app, not ${apps.length}: let them read PORT`);
  }
  if (names.length > urls.length) {
    throw new UsageError(`--name "${names[urls.length]}" has no URL: give as many names as URLs`);
  }
}

/** @throws UsageError for endpoints that cannot be measured on these servers. */
function checkEndpoints(options: Options, apps: readonly LocalSpec[], asked: readonly string[]): void {
  const { urls, engine, requests, workload = "read" } = options;
  const { store } = WORKLOADS[workload];
  for (const endpoint of options.endpoints) {
    if (!/^((?!CONNECT)[A-Z]+ )?\//.test(endpoint) && endpoint !== SEQUENCE)
      throw new UsageError(`--endpoints has "${endpoint}": write it as /path or 'METHOD /path', e.g. 'POST /login'`);
  }
  if (store && (engine || options.agents?.length)) {
    throw new UsageError(`--workload ${workload} starts servers on this machine: leave out --docker and --agents`);
  }
  const isMore = ({ method, headers, body }: Request) =>
    method !== "GET" || body !== undefined || Object.keys(headers).length > 0;
  if (Object.values(requests ?? {}).some(isMore) && options.agents?.length)
    throw new UsageError("--agents support paths only: leave out --requests, --header and --body");
  const isOurs = store || apps.length + urls.length === 0;
  const adds = isOurs ? asked.find((endpoint) => isOurPost(endpoint) && !requests?.[endpoint]) : undefined;
  if (adds && urls.length > 0) {
    throw new UsageError(`"${adds}" adds rows permanently, so it requires a server started here: leave out the URL`);
  }
  const writes = adds ?? asked.find((endpoint) => endpoint === SEQUENCE);
  const isPlaced = writes === TRANSACTION ? workload === "tpcb" : store;
  if (writes && !isPlaced && urls.length === 0) {
    const workloads = writes === TRANSACTION ? "tpcb" : "content or users";
    throw new UsageError(`"${writes}" writes to the store: give --workload ${workloads}, with a store for each server`);
  }
}

/**
 * @param servers SERVER names of the matrix; all of them are the default.
 * @throws UsageError for a server, endpoint or URL that cannot be measured.
 */
export function makePlan(options: Options, servers: readonly string[]): Plan {
  const { connections, seed, workload = "read" } = options;
  const apps = onStore(options.apps ?? [], workload);
  const { endpoints } = WORKLOADS[workload];
  const asked = options.endpoints.length > 0 ? options.endpoints : endpoints;
  const { requests, live } = options;
  checkTargets(options, apps);
  checkEndpoints(options, apps, asked);
  const targets = targetsOf({ ...options, apps }, servers);
  const amount = amountFor(options, targets.length);
  const couldBeTwice = targets.filter((spec) => spec.kind !== "url" && !(spec.kind === "local" && spec.app?.port));
  const twin =
    amount.twin && !options.once && couldBeTwice.length > 0 ? randomOf(seed, 0).arrayElement(couldBeTwice) : undefined;
  return {
    targets: unique(twin ? [...targets, twin] : targets),
    workload,
    ...(workload === "tpcb" && { scale: options.scale ?? SCALE }),
    scenarios: asked.map((endpoint) => ({
      name: endpoint,
      endpoint,
      connections,
      rate: options.rate ?? null,
      level: null,
    })),
    ...(requests && { requests }),
    ...(live && { live }),
    connections,
    agents: options.agents ?? [],
    preset: options.preset,
    amount: { ...amount, twin: twin !== undefined },
    seed,
  };
}

/** @throws UsageError for a rate at which a slice would have too few requests. */
function amountFor(options: Options, servers: number): Amount {
  const { workload = "read", preset, minutes, seconds, warmup, rate, connections, agents } = options;
  const amount = amountOf(workload, preset);
  const isShort = preset === "quick" && servers <= FEW.servers;
  /** Seconds between two requests of one connection, at a fixed rate. */
  const interval = rate === undefined ? 0 : connections / rate;
  const least = agents?.length ? AGENTS_SECONDS : rate === undefined ? 0 : AT_RATE_SECONDS;
  const soloSeconds = seconds ?? Math.max(amount.soloSeconds, 10 * interval, least);
  if (soloSeconds < 2 * interval || (seconds === undefined && soloSeconds > 60)) {
    throw new UsageError(
      `--rate ${rate} gives each of ${connections} connections one request in ${interval} s: lower --connections, or raise --seconds`,
    );
  }
  return {
    ...amount,
    soloSeconds,
    minutes: minutes ?? (isShort ? FEW.minutes : amount.minutes),
    warmRequests: warmup ?? amount.warmRequests,
  };
}

/** @throws UsageError */
function targetsOf(options: Options, servers: readonly string[]) {
  const { servers: chosen, urls, names, apps = [], engine, workload, insecure } = options;
  const ours = chosen.length > 0 || urls.length + apps.length > 0 ? chosen : servers;
  const started = ours.map((text): TargetSpec => {
    const spec = parseTarget(text, servers, workload);
    if (!engine) return spec;
    const { name, env, choices, stack } = spec;
    if (stack) throw new UsageError(`${name} is not in the image for --docker: leave out one of them`);
    return { kind: "docker", name, env, engine, ...(choices && { choices }) };
  });
  const running = urls.map(
    (url, i): TargetSpec => ({
      kind: "url",
      url: baseOf(url),
      name: names[i] || hiddenText(url),
      ...(insecure && { insecure }),
    }),
  );
  return [...started, ...apps, ...running];
}

/** Adds a number to repeated names. A repeated target that the run starts is a twin of the first. */
export function unique(specs: readonly TargetSpec[]): TargetSpec[] {
  return specs.map((spec, i) => {
    const { name } = spec;
    const n = specs.slice(0, i + 1).filter((one) => one.name === name).length;
    if (n === 1) return spec;
    return { ...spec, name: `${name}#${n}`, ...(spec.kind !== "url" && { twinOf: name }) };
  });
}

/** Minimum slice at a fixed rate, long enough to measure the cost at a low rate. */
const AT_RATE_SECONDS = 1;

/** The same plan with each of its endpoints at each rate. @param ratesOf requests per second */
export const atRates = (plan: Plan, ratesOf: (endpoint: string) => readonly number[]): Plan =>
  atLevels(plan, Math.max(plan.amount.soloSeconds, AT_RATE_SECONDS), (scenario) =>
    ratesOf(scenario.endpoint).map((rate) => ({
      ...scenario,
      name: `${scenario.endpoint} at ${rate}/s`,
      rate,
      level: { unit: "requests/s", value: rate },
    })),
  );

/** Slices of a ladder, long enough that most servers answer each of 10,000 connections several times. */
const RUNG_SECONDS = 5;

/** The same plan with each of its endpoints with each number of connections. @param soloSeconds length of each slice */
export const onLadder = (plan: Plan, rungs: readonly number[], soloSeconds = RUNG_SECONDS): Plan =>
  atLevels(plan, soloSeconds, (scenario) =>
    rungs.map((connections) => ({
      ...scenario,
      name: `${scenario.endpoint} with ${connections} connections`,
      connections,
      level: { unit: "connections", value: connections },
    })),
  );

const atLevels = (plan: Plan, soloSeconds: number, of: (scenario: Scenario) => Scenario[]): Plan => ({
  ...plan,
  scenarios: plan.scenarios.flatMap(of),
  amount: { ...plan.amount, soloSeconds },
});

/** Whether generators are paused between windows; if not, a generator is started for each window and runs to its end. */
export const isPaused = ({ agents }: Pick<Plan, "agents">, { rate, level }: Scenario): boolean =>
  agents.length === 0 && rate === null && level === null;

export const endpointsOf = ({ scenarios }: Pick<Plan, "scenarios">): string[] => [
  ...new Set(scenarios.map(({ endpoint }) => endpoint)),
];

/** Scenarios in the order of one restart: random, the same for the same seed, but with rising numbers of connections on a ladder. */
export function orderOf(plan: Pick<Plan, "seed">, restart: number, scenarios: readonly Scenario[]): Scenario[] {
  const shuffled = randomOf(plan.seed, restart).shuffle(scenarios);
  return shuffled.toSorted((a, b) => rungOf(a) - rungOf(b));
}
const rungOf = ({ level }: Scenario) => (level?.unit === "connections" ? level.value : 0);
