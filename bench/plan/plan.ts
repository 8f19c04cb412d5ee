import { UsageError } from "../../shared/errors.ts";
import { SEQUENCE, TRANSACTION, WORKLOADS, type Workload } from "../ask/endpoints.ts";
import type { HttpFile } from "../ask/http-file.ts";
import { isOurPost } from "../ask/requests.ts";
import { baseOf, isOurs, type LocalSpec, onStore, parseTarget, type TargetSpec } from "../ask/targets.ts";
import type { EngineSpec } from "../host/engine.ts";
import type { Request, Requests } from "../load/request.ts";
import { hiddenText } from "../load/secrets.ts";
import { AGENTS_SECONDS, type Amount, amountOf, FEW, type Preset } from "./presets.ts";
import { randomOf } from "./random.ts";

/** One way to load one endpoint: one table of a report. */
export interface Scenario {
  /** The endpoint, with the rate if there are several. */
  readonly name: string;
  readonly endpoint: string;
  readonly connections: number;
  /** Requests/s; null for a closed loop. */
  readonly rate: number | null;
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
  /** All targets, if they are known already: then `urls`, `names`, `servers`, `apps` and `engine` add none. */
  readonly targets?: readonly TargetSpec[];
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
  /** Fixed rates, requests per second. */
  readonly rates?: readonly number[] | undefined;
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
function checkEndpoints(options: Options, targets: readonly TargetSpec[], asked: readonly string[]): void {
  const { engine, requests, workload = "read" } = options;
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
  const hasUrl = targets.some(({ kind }) => kind === "url");
  const areOurs = store || targets.every((spec) => spec.kind === "docker" || isOurs(spec));
  const adds = areOurs ? asked.find((endpoint) => isOurPost(endpoint) && !requests?.[endpoint]) : undefined;
  if (adds && hasUrl) {
    throw new UsageError(`"${adds}" adds rows permanently, so it requires a server started here: leave out the URL`);
  }
  const writes = adds ?? asked.find((endpoint) => endpoint === SEQUENCE);
  const only = writes === TRANSACTION ? "tpcb" : writes === SEQUENCE ? "content" : null;
  const isPlaced = only === null ? store : workload === only;
  if (writes && !isPlaced) {
    const workloads = only ?? "content or users";
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
  const targets = options.targets ?? targetsOf({ ...options, apps }, servers);
  checkEndpoints(options, targets, asked);
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
      rate: options.rates?.length === 1 ? (options.rates[0] ?? null) : null,
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

/** Longest slice that is chosen for a rate. */
const MOST_RATE_SECONDS = 60;

/** @returns the length of a slice in which each connection sends ten requests, s. @throws UsageError if `seconds` or the limit is too short */
function secondsAt(rate: number, { connections, seconds }: Options): number {
  /** Seconds between two requests of one connection. */
  const interval = connections / rate;
  const wanted = Math.max(AT_RATE_SECONDS, 10 * interval);
  if (seconds === undefined ? wanted <= MOST_RATE_SECONDS : seconds >= 2 * interval) return seconds ?? wanted;
  throw new UsageError(
    `--rate ${rate} gives each of ${connections} connections one request in ${interval} s: lower --connections, or raise --seconds`,
  );
}

/** @throws UsageError for a rate at which a slice would have too few requests. */
function amountFor(options: Options, servers: number): Amount {
  const { workload = "read", preset, minutes, seconds, warmup, rates = [], agents } = options;
  const amount = amountOf(workload, preset);
  const isShort = preset === "quick" && servers <= FEW.servers;
  const atRates = rates.map((rate) => secondsAt(rate, options));
  const soloSeconds = seconds ?? Math.max(amount.soloSeconds, agents?.length ? AGENTS_SECONDS : 0, ...atRates);
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

/** Adds a number to repeated names, one that no other target has. A repeated target that the run starts is a twin of the first. */
export function unique(specs: readonly TargetSpec[]): TargetSpec[] {
  const taken = new Set(specs.map(({ name }) => name));
  const seen = new Set<string>();
  return specs.map((spec) => {
    const { name } = spec;
    if (!seen.has(name)) {
      seen.add(name);
      return spec;
    }
    let n = 2;
    while (taken.has(`${name}#${n}`)) n++;
    taken.add(`${name}#${n}`);
    return { ...spec, name: `${name}#${n}`, ...(spec.kind !== "url" && { twinOf: name }) };
  });
}

/** Minimum slice at a fixed rate, long enough to measure the cost at a low rate. */
const AT_RATE_SECONDS = 1;

/** The same plan with each of its endpoints at each rate. @param rates requests per second */
export const atRates = (plan: Plan, rates: readonly number[]): Plan => ({
  ...plan,
  scenarios: plan.scenarios.flatMap((scenario) =>
    rates.map((rate) => ({ ...scenario, name: `${scenario.endpoint} at ${rate}/s`, rate })),
  ),
  amount: { ...plan.amount, soloSeconds: Math.max(plan.amount.soloSeconds, AT_RATE_SECONDS) },
});

/** Whether generators are paused between windows; if not, a generator is started for each window and runs to its end. */
export const isPaused = ({ agents }: Pick<Plan, "agents">, { rate }: Scenario): boolean =>
  agents.length === 0 && rate === null;

export const endpointsOf = ({ scenarios }: Pick<Plan, "scenarios">): string[] => [
  ...new Set(scenarios.map(({ endpoint }) => endpoint)),
];

/** Scenarios in the order of one restart: random, the same for the same seed. */
export const orderOf = (plan: Pick<Plan, "seed">, restart: number, scenarios: readonly Scenario[]): Scenario[] =>
  randomOf(plan.seed, restart).shuffle(scenarios);
