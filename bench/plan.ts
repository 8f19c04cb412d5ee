import { SimpleFaker } from "@faker-js/faker";
import { CLIENTS } from "../shared/drivers/drivers.ts";
import { UsageError } from "../shared/errors.ts";

/** The eight endpoints that are measured unless others are asked for. */
export const ENDPOINTS = [
  "/plain",
  "/html-template",
  ...["5fields", "30fields"].flatMap((kind) => [1, 5, 10].map((size) => `/sqlite/random-${kind}/${size}`)),
];

/** The content API's six steps, as one: see load/sequence.js. Its steps are rows of their own, `content 1 POST` and so on. */
export const SEQUENCE = "content";
export const isStep = (endpoint: string) => endpoint.startsWith(`${SEQUENCE} `);

/** One endpoint of each. */
const ROUTES = ENDPOINTS.filter((path) => !/\/(5|10)$/.test(path));

/**
 * What servers are asked for; where contents are kept, each server begins with the same and with a copy of its own.
 * `warmed` after a restart, whatever is measured: one endpoint per route, as more rows are the same code more often.
 * `awake`: what they are asked for now and then while others are measured.
 */
export const WORKLOADS = {
  read: { endpoints: ENDPOINTS, warmed: ROUTES, awake: ROUTES, store: false },
  content: { endpoints: [SEQUENCE], warmed: [SEQUENCE], awake: ["/content?limit=1"], store: true },
  users: { endpoints: ["/users", "POST /users"], warmed: ["/users", "POST /users"], awake: ["/users"], store: true },
} as const;
export type Workload = keyof typeof WORKLOADS;

/** How much is measured: restarts, and what is done between two of them. */
export interface PresetAmounts {
  /** Restarts of every server: the repetitions. */
  readonly blocks: number;
  /** Random cycles of duets per block and endpoint; each server plays two duets in a cycle. */
  readonly cycles: number;
  readonly duetSeconds: number;
  /** Of one solo slice, one per server, endpoint and block. */
  readonly soloSeconds: number;
  /** Requests that a server answers after a restart, over all endpoints, before anything is asked of it that counts. */
  readonly warmRequests: number;
  /** Of a window of warm-up, per server: all are loaded at once. */
  readonly windowSeconds: number;
  /** Windows right before the slices of an endpoint, at least. */
  readonly windows: number;
  /** Whether one server is measured twice, under two names. */
  readonly twin: boolean;
}

/** Chosen from a pilot of what varies between restarts, between duets, and with their length: see CONTRIBUTING.md. */
export const PRESETS = {
  quick: {
    blocks: 2,
    cycles: 1,
    duetSeconds: 0.4,
    soloSeconds: 0.1,
    warmRequests: 40_000,
    windowSeconds: 0.1,
    windows: 2,
    twin: false,
  },
  standard: {
    blocks: 4,
    cycles: 2,
    duetSeconds: 0.5,
    soloSeconds: 0.3,
    warmRequests: 100_000,
    windowSeconds: 0.15,
    windows: 3,
    twin: true,
  },
  full: {
    blocks: 12,
    cycles: 2,
    duetSeconds: 0.8,
    soloSeconds: 0.4,
    warmRequests: 150_000,
    windowSeconds: 0.25,
    windows: 4,
    twin: true,
  },
} as const satisfies Record<string, PresetAmounts>;

/** k6 takes longer than fortio to start, so its slices are longer, and so is what they warm. */
const SEQUENCE_SECONDS: Readonly<Record<keyof typeof PRESETS, Partial<PresetAmounts>>> = {
  quick: { duetSeconds: 1, soloSeconds: 1, windowSeconds: 0.2, warmRequests: 2_000 },
  standard: { duetSeconds: 1.5, soloSeconds: 2, windowSeconds: 0.3, warmRequests: 4_000 },
  full: { duetSeconds: 3, soloSeconds: 5, windowSeconds: 0.5, warmRequests: 8_000 },
};

/** Of `duet`, `tax` and `self-test`, which restart two targets until they are decided. */
export const PAIR: PresetAmounts = {
  blocks: 0,
  cycles: 0,
  duetSeconds: 0.8,
  soloSeconds: 0.5,
  warmRequests: 50_000,
  windowSeconds: 0.25,
  windows: 2,
  twin: false,
};
/** What they load unless other endpoints are asked for: the least work, and a usual amount. */
export const PAIR_ENDPOINTS = ["/plain", "/sqlite/random-5fields/5"];

/** Agents begin some 0.05 s apart, which is to be little of a slice. */
const AGENTS_SECONDS = 2;

/** A server that is started here, by a command that reads PORT, HOST and `env`. */
export interface LocalSpec {
  readonly kind: "local";
  readonly name: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A server that runs already; `name` where it does not say itself what it is. */
export interface UrlSpec {
  readonly kind: "url";
  readonly url: string;
  readonly name: string | undefined;
}

/** A server that is started in a container. */
export interface DockerSpec {
  readonly kind: "docker";
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly engine: EngineSpec;
}

/** A Docker engine, and how it runs servers. */
export interface EngineSpec {
  /** `ssh://user@host` or `unix:///path`. */
  readonly address: string;
  readonly image: string;
  /** Options of `docker run`, e.g. `--memory 512m`. */
  readonly run: readonly string[];
}

export type TargetSpec = LocalSpec | UrlSpec | DockerSpec;

export interface Plan {
  readonly workload: Workload;
  /** With a twin, the last is one of the others once more. */
  readonly targets: readonly TargetSpec[];
  readonly endpoints: readonly string[];
  readonly connections: number;
  readonly amount: PresetAmounts;
  /** `host:port` of the fortio servers that make the load; none for a fortio of this machine. */
  readonly agents: readonly string[];
  /** Requests per second of the solo slices, null for as many as can be. */
  readonly rate: number | null;
  readonly seed: number;
}

export interface Options {
  /** read if absent. */
  readonly workload?: Workload | undefined;
  readonly urls: readonly string[];
  readonly names: readonly string[];
  readonly servers: readonly string[];
  /** Runs the servers in containers. */
  readonly engine?: EngineSpec | undefined;
  readonly endpoints: readonly string[];
  readonly agents?: readonly string[];
  readonly connections: number;
  readonly preset: keyof typeof PRESETS;
  /** Length of every slice, instead of the preset's. */
  readonly seconds?: number | undefined;
  /** Requests after a restart, instead of the preset's. */
  readonly warmup?: number | undefined;
  readonly rate?: number | undefined;
  readonly seed: number;
}

/**
 * @param servers SERVER names of the matrix; all of them are the default.
 * @throws UsageError for a server, endpoint or URL that cannot be measured.
 */
export function makePlan(options: Options, servers: readonly string[]): Plan {
  const { urls, names, connections, seconds, seed, engine, workload = "read" } = options;
  const { store, endpoints } = WORKLOADS[workload];
  if (urls.length > 0 && (options.servers.length > 0 || engine)) {
    const starts = engine ? "--docker starts servers" : "--servers starts servers here";
    throw new UsageError(`${starts}, a URL measures one that runs already: give one of the two`);
  }
  if (names.length > urls.length) {
    throw new UsageError(`--name "${names[urls.length]}" has no URL to belong to: give as many names as URLs`);
  }
  for (const endpoint of options.endpoints) {
    if (!/^(POST )?\//.test(endpoint) && endpoint !== SEQUENCE)
      throw new UsageError(`--endpoints has "${endpoint}": a path starts with /`);
  }
  if (store && (engine || options.agents?.length)) {
    throw new UsageError(`--workload ${workload} starts servers on this machine: leave out --docker and --agents`);
  }
  const asked = options.endpoints.length > 0 ? options.endpoints : endpoints;
  const adds = asked.find((endpoint) => endpoint.startsWith("POST "));
  if (adds && urls.length > 0) {
    throw new UsageError(`"${adds}" adds what stays, so it loads servers started here only: leave out the URL`);
  }
  const writes = adds ?? asked.find((endpoint) => endpoint === SEQUENCE);
  if (writes && !store && urls.length === 0) {
    throw new UsageError(`"${writes}" writes: give --workload content or users, and servers get a store of their own`);
  }
  const preset: PresetAmounts = {
    ...PRESETS[options.preset],
    ...(workload === "content" && SEQUENCE_SECONDS[options.preset]),
  };
  /** Between two sends of one connection, at a fixed rate. */
  const interval = options.rate === undefined ? 0 : connections / options.rate;
  const least = options.agents?.length ? AGENTS_SECONDS : 0;
  const soloSeconds = seconds ?? Math.max(preset.soloSeconds, 10 * interval, least);
  if (soloSeconds < 2 * interval || (seconds === undefined && soloSeconds > 60)) {
    throw new UsageError(
      `--rate ${options.rate} gives each of ${connections} connections one request in ${interval} s: lower --connections, or raise --seconds`,
    );
  }
  const scale = seconds === undefined ? 1 : Math.min(1, seconds / preset.duetSeconds);
  const amount: PresetAmounts = {
    ...preset,
    duetSeconds: seconds ?? Math.max(preset.duetSeconds, least),
    soloSeconds,
    windowSeconds: preset.windowSeconds * scale,
    warmRequests: options.warmup ?? preset.warmRequests,
  };
  const targets: TargetSpec[] =
    urls.length > 0
      ? urls.map((url, i) => ({ kind: "url", url: baseOf(url), name: names[i] || undefined }))
      : (options.servers.length > 0 ? options.servers : servers).map((text) => {
          const { name, env, ...local } = parseTarget(text, servers, store);
          return engine ? { kind: "docker", name, env, engine } : { name, env, ...local };
        });
  const twin = amount.twin && urls.length === 0 ? randomOf(seed, 0).arrayElement(targets) : undefined;
  return {
    targets: twin ? [...targets, twin] : targets,
    workload,
    endpoints: asked,
    connections,
    agents: options.agents ?? [],
    amount,
    rate: options.rate ?? null,
    seed,
  };
}

/** One of the two targets of `duet`: a URL, or a server of the matrix. */
export function parseEither(text: string, servers: readonly string[]): TargetSpec {
  return text.includes("://") ? { kind: "url", url: baseOf(text), name: undefined } : parseTarget(text, servers);
}

/** Whether a target runs on this machine, and so has to share it with the generator. */
export function isHere(spec: TargetSpec): boolean {
  if (spec.kind === "docker") return !spec.engine.address.startsWith("ssh://");
  return spec.kind === "local" || /^(localhost|127\..*|\[::1\])$/.test(new URL(spec.url).hostname);
}

/** Duets are closed loops: where a rate is asked for there are none. */
const hasDuets = ({ targets, rate }: Pick<Plan, "targets" | "rate">): boolean => targets.length > 1 && rate === null;

/** What a block does at one endpoint: duets first, then solo slices. */
export interface Step {
  readonly endpoint: string;
  readonly duets: readonly (readonly [string, string])[];
  readonly solos: readonly string[];
}

/**
 * The order of one block, the same for the same seed: endpoints shuffled, and for each random cycles over the servers
 * in which neighbours play a duet, so that each server plays as often as any other, then solo slices, shuffled.
 * @param names of the targets; @param rivals those of them that can play duets
 */
export function orderOf(plan: Plan, block: number, names: readonly string[], rivals: readonly string[]): Step[] {
  const random = randomOf(plan.seed, block);
  return random.shuffle(plan.endpoints).map((endpoint) => ({
    endpoint,
    duets: Array.from({ length: hasDuets(plan) && rivals.length > 1 ? plan.amount.cycles : 0 }, () =>
      random.shuffle(rivals),
    ).flatMap((cycle) => cycle.map((name, i): [string, string] => [name, cycle[(i + 1) % cycle.length] as string])),
    solos: random.shuffle(names),
  }));
}

/** What a slice costs beyond its length: starting fortio, its connections, reading its answer; measured on two cores. */
const SLICE_OVERHEAD_SECONDS = 0.11;
/** The same per server, where all are loaded at once. */
const WARMUP_OVERHEAD_SECONDS = 0.08;
/** An engine elsewhere gives a container's statistics once a second, and a slice needs them before and after. */
const READING_SECONDS = 1.5;
/** What a restart of one server costs, and asking it every endpoint once. */
const START_SECONDS = 0.6;
/** A request of warm-up, server and generator together on two cores, averaged over servers and endpoints. */
const WARM_REQUEST_SECONDS = 5e-5;
/** Looking at the machine before and after a block. */
const FINGERPRINT_SECONDS = 5;
/** Calibration: per server and endpoint, and once. */
export const UNLOADED_SECONDS = 0.1;
const CEILING_SECONDS = 2;

/** @returns about how long it takes, in seconds: a restart of all servers, an endpoint of a block, and what comes once. */
export function duration({ targets, endpoints, amount, rate }: Plan): Record<"restart" | "endpoint" | "once", number> {
  const { cycles, duetSeconds, soloSeconds, warmRequests, windowSeconds, windows } = amount;
  const reading = targets.some((spec) => spec.kind === "docker" && !isHere(spec)) ? READING_SECONDS : 0;
  const duets = hasDuets({ targets, rate }) ? cycles * (duetSeconds + SLICE_OVERHEAD_SECONDS + reading) : 0;
  const solo = soloSeconds + SLICE_OVERHEAD_SECONDS / 2 + reading;
  const started = targets.filter(({ kind }) => kind !== "url").length;
  return {
    restart: targets.length * START_SECONDS + started * warmRequests * WARM_REQUEST_SECONDS + FINGERPRINT_SECONDS,
    endpoint: targets.length * (windows * (windowSeconds + WARMUP_OVERHEAD_SECONDS) + duets + solo),
    once: targets.length * endpoints.length * (UNLOADED_SECONDS + SLICE_OVERHEAD_SECONDS / 2) + CEILING_SECONDS,
  };
}

export function totalSeconds(plan: Plan): number {
  const { restart, endpoint, once } = duration(plan);
  return once + plan.amount.blocks * (restart + endpoint * plan.endpoints.length);
}

/** What is written behind `+` in the name of a server, and the variable that it sets. */
const SETTINGS: Readonly<Record<string, string>> = {
  journal: "SQLITE_JOURNAL",
  synchronous: "SQLITE_SYNCHRONOUS",
  file: "CONTENT_FILE",
  pool: "POSTGRES_POOL",
  prepare: "POSTGRES_PREPARE",
};

/**
 * `bun-hono`, `bun-hono@node:sqlite*4`, `bun-hono@pg+pool=50`: a server, its SQLite driver, or Postgres client, or memory,
 * its workers, its settings. @param store whether it keeps contents
 */
export function parseTarget(text: string, servers: readonly string[], store = false): LocalSpec {
  const [, server = "", driver, workers, settings = ""] =
    /^([^@*+]*)(?:@([^+*]+))?(?:\*(\d+))?((?:\+[^+]*)*)$/.exec(text) ?? [];
  if (!servers.includes(server)) {
    throw new UsageError(
      `--servers has "${text}": choose from ${servers.join(" ")}, each as NAME[@DRIVER][*WORKERS][+SETTING=VALUE]`,
    );
  }
  const set = settings
    .split("+")
    .slice(1)
    .map((setting): [string, string] => {
      const [name = "", value = ""] = setting.split(/=(.*)/s);
      const variable = SETTINGS[name];
      if (variable && value && store) return [variable, value];
      const which = `"${setting}" of "${text}" is none of ${Object.keys(SETTINGS).join("= ")}=`;
      throw new UsageError(`${which}: correct it${store ? "" : ", and give --workload content or users"}`);
    });
  return {
    kind: "local",
    name: text,
    command: ["sh", "servers/start.sh"],
    env: {
      SERVER: server,
      ...(store && { STORE: "sqlite" }),
      ...(driver && driverEnv(driver, store)),
      ...(workers && { WORKERS: workers }),
      ...Object.fromEntries(set),
    },
  };
}

function driverEnv(driver: string, store: boolean): Record<string, string> {
  if (store && driver === "memory") return { STORE: "memory" };
  const clients: readonly string[] = Object.values(CLIENTS).flat();
  return store && clients.includes(driver) ? { STORE: "postgres", POSTGRES_CLIENT: driver } : { SQLITE_DRIVER: driver };
}

function baseOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new UsageError(`"${text}" is not a URL: write it as http://host:port`);
  }
  return url.origin + url.pathname.replace(/\/$/, "");
}

function randomOf(seed: number, block: number) {
  const faker = new SimpleFaker();
  faker.seed([seed, block]);
  return faker.helpers;
}
