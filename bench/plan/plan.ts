import { SimpleFaker } from "@faker-js/faker";
import { UsageError } from "../../shared/errors.ts";
import { SEQUENCE, TRANSACTION, WORKLOADS, type Workload } from "../ask/endpoints.ts";
import { nameAtRate, nameWith } from "../ask/names.ts";
import { isOurPost, type Requests, requestOf } from "../ask/requests.ts";
import { baseOf, type EngineSpec, type LocalSpec, onStore, parseTarget, type TargetSpec } from "../ask/targets.ts";
import { AGENTS_SECONDS, amountsOf, type PRESETS, type PresetAmounts, warmedUp } from "./presets.ts";

export interface Plan {
  readonly workload: Workload;
  /** Branches of pgbench's tables, where those are asked for. */
  readonly scale?: number;
  /** With a twin, the last is one of the others once more. */
  readonly targets: readonly TargetSpec[];
  readonly endpoints: readonly string[];
  /** What is asked at endpoints where it is not what their name says. */
  readonly requests?: Requests;
  readonly connections: number;
  readonly amount: PresetAmounts;
  /** `host:port` of the fortio servers that make the load; none for a fortio of this machine. */
  readonly agents: readonly string[];
  /** Requests per second of the solo slices, null for as many as can be. */
  readonly rate: number | null;
  /** The same of single endpoints; in their duets each side has half of it. */
  readonly rates?: Readonly<Record<string, number>>;
  /** Connections of single endpoints, each a rung of a ladder: a server that fails at one is not asked at the next. */
  readonly ladder?: Readonly<Record<string, number>>;
  readonly seed: number;
}

export interface Options {
  /** read if absent. */
  readonly workload?: Workload | undefined;
  /** 10 if absent. */
  readonly scale?: number | undefined;
  readonly urls: readonly string[];
  readonly names: readonly string[];
  readonly servers: readonly string[];
  /** Of others, that are started here. */
  readonly apps?: readonly LocalSpec[];
  /** Runs the servers in containers. */
  readonly engine?: EngineSpec | undefined;
  readonly endpoints: readonly string[];
  readonly requests?: Requests | undefined;
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

/** Of pgbench's tables: some 150 MB. */
const SCALE = 10;

/**
 * @param servers SERVER names of the matrix; all of them are the default.
 * @throws UsageError for a server, endpoint or URL that cannot be measured.
 */
export function makePlan(options: Options, servers: readonly string[]): Plan {
  const { urls, names, connections, seconds, seed, engine, workload = "read" } = options;
  const apps = onStore(options.apps ?? [], workload);
  const { store, endpoints } = WORKLOADS[workload];
  if (engine && urls.length + apps.length > 0) {
    const what = urls.length > 0 ? "a URL measures one that runs already" : "--start starts one without";
    throw new UsageError(`--docker starts servers in containers, ${what}: give one of the two`);
  }
  const fixed = apps.find(({ app }) => app?.port);
  if (fixed && apps.length > 1) {
    throw new UsageError(`--port ${fixed.app?.port} is of one server, ${apps.length} are started: let them read PORT`);
  }
  if (names.length > urls.length) {
    throw new UsageError(`--name "${names[urls.length]}" has no URL to belong to: give as many names as URLs`);
  }
  for (const endpoint of options.endpoints) {
    if (!/^([A-Z]+ )?\//.test(endpoint) && endpoint !== SEQUENCE)
      throw new UsageError(`--endpoints has "${endpoint}": a path starts with /`);
  }
  if (store && (engine || options.agents?.length)) {
    throw new UsageError(`--workload ${workload} starts servers on this machine: leave out --docker and --agents`);
  }
  const asked = options.endpoints.length > 0 ? options.endpoints : endpoints;
  const { requests } = options;
  if (requests && options.agents?.length)
    throw new UsageError("--agents ask for paths only: leave out --requests, --header and --body");
  const adds = asked.find((endpoint) => isOurPost(endpoint) && !requests?.[endpoint]);
  if (adds && urls.length > 0) {
    throw new UsageError(`"${adds}" adds what stays, so it loads servers started here only: leave out the URL`);
  }
  const writes = adds ?? asked.find((endpoint) => endpoint === SEQUENCE);
  const isPlaced = writes === TRANSACTION ? workload === "tpcb" : store;
  if (writes && !isPlaced && urls.length === 0) {
    const workloads = writes === TRANSACTION ? "tpcb" : "content or users";
    throw new UsageError(`"${writes}" writes: give --workload ${workloads}, and servers get a store of their own`);
  }
  const preset = warmedUp(amountsOf(workload, options.preset), options.warmup);
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
  };
  const ours = options.servers.length > 0 || urls.length + apps.length > 0 ? options.servers : servers;
  const started: TargetSpec[] = ours.map((text) => {
    const { name, env, ...local } = parseTarget(text, servers, workload);
    if (engine && local.stack)
      throw new UsageError(`--docker starts the ten, and ${name} is not in their image: leave it out`);
    return engine ? { kind: "docker", name, env, engine } : { name, env, ...local };
  });
  const running = urls.map((url, i): TargetSpec => ({ kind: "url", url: baseOf(url), name: names[i] || undefined }));
  const targets: TargetSpec[] = [...started, ...apps, ...running];
  const couldBeTwice = [...started, ...apps.filter(({ app }) => !app?.port)];
  const twin = amount.twin && couldBeTwice.length > 0 ? randomOf(seed, 0).arrayElement(couldBeTwice) : undefined;
  return {
    targets: twin ? [...targets, twin] : targets,
    workload,
    ...(workload === "tpcb" && { scale: options.scale ?? SCALE }),
    endpoints: asked,
    ...(requests && { requests }),
    connections,
    agents: options.agents ?? [],
    amount,
    rate: options.rate ?? null,
    seed,
  };
}

/** Requests per second of the solo slices at an endpoint, null for as many as can be. */
export const rateAt = ({ rate, rates }: Pick<Plan, "rate" | "rates">, endpoint: string): number | null =>
  rates?.[endpoint] ?? rate;

/** Long enough that a server's cost at a low rate is seen. */
const AT_RATE_SECONDS = 1;

/** The same plan with an endpoint for each of its endpoints at each rate. @param ratesOf requests per second */
export function atRates(plan: Plan, ratesOf: (endpoint: string) => readonly number[]): Plan {
  const { levels, ...leveled } = atLevels(plan, ratesOf, nameAtRate);
  const { duetSeconds, soloSeconds } = plan.amount;
  return {
    ...leveled,
    rates: levels,
    amount: {
      ...plan.amount,
      duetSeconds: Math.max(duetSeconds, AT_RATE_SECONDS),
      soloSeconds: Math.max(soloSeconds, AT_RATE_SECONDS),
    },
  };
}

/** Long enough that ten thousand connections have several answers each of most servers. */
const RUNG_SECONDS = 5;

/** The same plan with an endpoint for each of its endpoints with each number of connections. @param soloSeconds of each slice */
export function onLadder(plan: Plan, connections: readonly number[], soloSeconds = RUNG_SECONDS): Plan {
  const { levels, ...leveled } = atLevels(plan, () => connections, nameWith);
  return { ...leveled, ladder: levels, amount: { ...plan.amount, soloSeconds } };
}

/** An endpoint for each of a plan's at each level of load, and the levels by their names. */
function atLevels(
  plan: Plan,
  levelsOf: (endpoint: string) => readonly number[],
  nameOf: (endpoint: string, level: number) => string,
) {
  const all = plan.endpoints.flatMap((endpoint) =>
    levelsOf(endpoint).map((level) => ({ level, name: nameOf(endpoint, level), of: endpoint })),
  );
  return {
    ...plan,
    endpoints: all.map(({ name }) => name),
    requests: Object.fromEntries(all.map(({ name, of }) => [name, requestOf(of, plan.requests)])),
    levels: Object.fromEntries(all.map(({ name, level }) => [name, level])),
  };
}

/** Where one rate is asked for, or a ladder, there are none. */
export const hasDuets = ({ targets, rate, ladder }: Pick<Plan, "targets" | "rate" | "ladder">): boolean =>
  targets.length > 1 && rate === null && ladder === undefined;

/** What is done at one endpoint while a server and the one before it are up: duets first, then a slice of it alone. */
export interface Step {
  readonly endpoint: string;
  readonly duets: readonly (readonly [string, string])[];
  readonly solo: string;
}

/** A server starts, and plays with the one before it, which stops when the next one comes. */
export interface Turn {
  readonly name: string;
  /** Null for one that plays no duets. */
  readonly partner: string | null;
  readonly steps: readonly Step[];
}

/**
 * The order of one block, the same for the same seed. The servers form a random ring, in which each plays duets with the
 * one before it and the one after it: once as the younger and once as the older of two. So none lives longer than two
 * turns, and what age does to servers cancels in their differences. The ring closes with a second start of the first.
 * @param names of the targets; @param rivals those of them that can play duets
 */
export function orderOf(plan: Plan, block: number, names: readonly string[], rivals: readonly string[]): Turn[] {
  const random = randomOf(plan.seed, block);
  const turn = (name: string, partner: string | null): Turn => ({
    name,
    partner,
    steps: upwards(plan, random.shuffle(plan.endpoints)).map((endpoint) => ({
      endpoint,
      duets: Array.from({ length: partner === null ? 0 : plan.amount.cycles }, (_, i): [string, string] =>
        i % 2 === 0 ? [partner as string, name] : [name, partner as string],
      ),
      solo: name,
    })),
  });
  const ring = hasDuets(plan) && rivals.length > 1 ? random.shuffle(rivals) : [];
  const alone = random.shuffle(names.filter((name) => !ring.includes(name)));
  const [first] = ring;
  return [
    ...(first === undefined ? [] : [{ name: first, partner: null, steps: [] }]),
    ...ring.map((partner, i) => turn(ring[(i + 1) % ring.length] as string, partner)),
    ...alone.map((name) => turn(name, null)),
  ];
}

/** Rungs of a ladder come one after the other. */
const upwards = ({ ladder }: Plan, endpoints: readonly string[]): readonly string[] =>
  ladder ? endpoints.toSorted((a, b) => (ladder[a] as number) - (ladder[b] as number)) : endpoints;

function randomOf(seed: number, block: number) {
  const faker = new SimpleFaker();
  faker.seed([seed, block]);
  return faker.helpers;
}
