import matrix from "../../servers/matrix.json" with { type: "json" };
import { CLIENTS, type Runtime } from "../../shared/drivers/drivers.ts";
import { UsageError } from "../../shared/errors.ts";
import stacks from "../../stacks/stacks.json" with { type: "json" };
import type { EngineSpec } from "../host/engine.ts";
import type { Request } from "../load/request.ts";
import { hiddenText } from "../load/secrets.ts";
import { WORKLOADS, type Workload } from "./endpoints.ts";

/** What all targets have. */
interface Named {
  /** Unique in a run. */
  readonly name: string;
  /** Name of the target that this one copies under another name. */
  readonly twinOf?: string;
}

/** The user's choices for one of our servers; null is the server's default. */
export interface Choices {
  readonly server: string;
  /** A SQLite driver, a client of Postgres, or memory. */
  readonly driver: string | null;
  readonly workers: number | null;
  /** `pool=50, tx=function` */
  readonly settings: string | null;
}

/** A server that is started here, by a command that reads PORT, HOST and `env`. */
export interface LocalSpec extends Named {
  readonly kind: "local";
  readonly choices?: Choices;
  /** `{port}` in it stands for the port. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Settings of an app of the user. */
  readonly app?: AppSettings;
  /** The folder of a stack; its build.sh must run once before the start. */
  readonly stack?: string;
}

/** How an app of the user is started. */
export interface AppSettings {
  /** Its folder. */
  readonly cwd: string;
  /** The port that it always listens on; if absent, it gets a free port. */
  readonly port?: number | undefined;
  /** The app is up when this request gets the expected answer; null if any answer at / is enough. */
  readonly ready: Request | null;
  /** Whether the user chose that request: then no other answer shows that the app is up. */
  readonly isReadyGiven?: boolean;
  /** Accepts any certificate. */
  readonly insecure?: boolean;
}

/** A server that runs already. */
export interface UrlSpec extends Named {
  readonly kind: "url";
  readonly url: string;
  /** Accepts any certificate. */
  readonly insecure?: boolean;
}

/** A server that is started in a container. */
export interface DockerSpec extends Named {
  readonly kind: "docker";
  readonly choices?: Choices;
  readonly env: Readonly<Record<string, string>>;
  readonly engine: EngineSpec;
}

export type TargetSpec = LocalSpec | UrlSpec | DockerSpec;

/** SERVER names of the matrix. */
export const SERVERS = Object.keys(matrix);

/** A server in another language, in a folder of its own. */
export interface Stack {
  /** Command that starts it. The folder stacks/NAME in it is the stack's own, where build.sh builds the program. */
  readonly command: string;
  readonly runtime: string;
  readonly framework: string;
  /** Whether it is the plainest server of its language, like raw for Node and Bun; false by default. */
  readonly plain: boolean;
  /** Values of SQLITE_DRIVER, the default first. */
  readonly drivers: readonly string[];
  /** Values of POSTGRES_CLIENT, the default first; empty if it has no /tx and no content API on Postgres. */
  readonly clients: readonly string[];
  /** Its own settings (name -> variable) besides SETTINGS: for all workloads, and for workloads with a store. */
  readonly settings: Readonly<Record<string, string>>;
  readonly storeSettings: Readonly<Record<string, string>>;
  /** Whether it runs as WORKERS processes; if not, its threads use all cores by default. */
  readonly processes: boolean;
  /** By default only `read`. */
  readonly workloads: readonly string[];
}

const DEFAULTS = { plain: false, clients: [], settings: {}, storeSettings: {}, processes: false, workloads: ["read"] };

/** Name -> stack; not in the matrix, measured only if the user names it. */
export const STACKS: Readonly<Record<string, Stack>> = Object.fromEntries(
  Object.entries(stacks).map(([name, stack]) => [name, { ...DEFAULTS, ...stack }]),
);

/** @returns the stack of this name; undefined for any other name, also for one like `constructor`. */
export const stackOf = (server: string): Stack | undefined =>
  Object.hasOwn(STACKS, server) ? STACKS[server] : undefined;

/** What `pooler=` may name. */
const POOLERS = ["pgbouncer"];

/** @returns the folder of a stack. */
export const folderOf = ({ command }: Stack): string => /stacks\/[^/ ]+/.exec(command)?.[0] as string;

/** @returns what a stack lacks for a workload, e.g. `/tx`; null if it lacks nothing. */
export function lackOf({ workloads }: Stack, workload: Workload): string | null {
  const [listed, name] = WORKLOADS[workload].api;
  return workloads.includes(listed) ? null : name;
}

/** Setting after `+` in the name of a server -> variable that it sets. All are for stores, which the workload `read` does not have. */
const SETTINGS: Readonly<Record<string, string>> = {
  journal: "SQLITE_JOURNAL",
  synchronous: "SQLITE_SYNCHRONOUS",
  file: "CONTENT_FILE",
  pool: "POSTGRES_POOL",
  prepare: "POSTGRES_PREPARE",
  tx: "POSTGRES_TX",
  pooler: "POSTGRES_POOLER",
};

/**
 * `bun-hono`, `bun-hono@node:sqlite*4`, `bun-hono@pg+pool=50`: a server, its SQLite driver, or Postgres client, or memory,
 * its workers, its settings. @throws UsageError also if it cannot serve the workload
 */
export function parseTarget(text: string, servers: readonly string[], workload: Workload = "read"): LocalSpec {
  const { store } = WORKLOADS[workload];
  const [, server = "", driver, workers, chosen = ""] =
    /^([^@*+]*)(?:@([^+*]+))?(?:\*(\d+))?((?:\+[^+]*)*)$/.exec(text) ?? [];
  const settings = chosen.split("+").slice(1);
  const stack = stackOf(server);
  if (!servers.includes(server) && !stack) {
    throw new UsageError(
      `--servers has "${text}": choose from ${servers.join(" ")}, each as NAME[@DRIVER][*WORKERS][+SETTING=VALUE], or of other languages from ${Object.keys(STACKS).join(" ")}`,
    );
  }
  const lack = stack && lackOf(stack, workload);
  if (lack) throw new UsageError(`--servers has "${text}": ${server} has no ${lack}: leave it out of this workload`);
  const ofStore = { ...SETTINGS, ...stack?.storeSettings };
  const known: Readonly<Record<string, string>> = { ...stack?.settings, ...(store && ofStore) };
  const set = settings.map((setting): [string, string] => {
    const [name = "", value = ""] = setting.split(/=(.*)/s);
    const variable = known[name];
    if (variable && value) return [variable, value];
    const which = `"${setting}" of "${text}" is none of ${Object.keys({ ...ofStore, ...stack?.settings }).join("= ")}=`;
    throw new UsageError(`${which}: correct it${store ? "" : ", and give --workload content, users or tpcb"}`);
  });
  const choices: Choices = {
    server,
    driver: driver ?? null,
    workers: workers === undefined ? null : Number(workers),
    settings: settings.join(", ") || null,
  };
  const spec: LocalSpec = {
    kind: "local",
    name: text,
    choices,
    command: ["sh", "servers/start.sh", ...(stack ? ["built"] : [])],
    ...(stack && { stack: folderOf(stack) }),
    env: {
      SERVER: server,
      ...(store && { STORE: "sqlite" }),
      ...(driver && driverEnv(driver, store, stack)),
      ...(workers && { WORKERS: workers }),
      ...Object.fromEntries(set),
    },
  };
  const { POSTGRES_POOLER: pooler } = spec.env;
  if (pooler !== undefined && !POOLERS.includes(pooler))
    throw new UsageError(`"pooler=${pooler}" of "${text}" is none of ${POOLERS.join(" ")}: correct it`);
  const placed = workload === "tpcb" ? onPostgres(spec) : spec;
  if (pooler !== undefined && placed.env.STORE !== "postgres")
    throw new UsageError(
      `--servers has "${text}": a pooler needs Postgres: add @ and a Postgres client, or leave out the pooler`,
    );
  return placed;
}

function driverEnv(driver: string, store: boolean, stack?: Stack): Record<string, string> {
  if (store && driver === "memory") return { STORE: "memory" };
  const clients: readonly string[] = stack?.clients ?? Object.values(CLIENTS).flat();
  return store && clients.includes(driver) ? { STORE: "postgres", POSTGRES_CLIENT: driver } : { SQLITE_DRIVER: driver };
}

/** @returns the same server on Postgres. @throws UsageError if something else is asked for */
function onPostgres(spec: LocalSpec): LocalSpec {
  const { SERVER = "", STORE, SQLITE_DRIVER } = spec.env;
  const clients: readonly string[] = stackOf(SERVER)?.clients ?? CLIENTS[SERVER.split("-")[0] as Runtime];
  if (SQLITE_DRIVER || STORE === "memory")
    throw new UsageError(`--servers has "${spec.name}": /tx needs Postgres: add @ and one of ${clients.join(" ")}`);
  return { ...spec, env: { ...spec.env, STORE: "postgres" } };
}

/** `my-app=node app.js`: the name that it gets here, and the command of a shell. @throws UsageError */
export function parseStart(text: string, env: Readonly<Record<string, string>>, app: AppSettings): LocalSpec {
  const [, name = "", command = ""] = /^([\w.-]+)=(.*\S)/s.exec(text) ?? [];
  if (name === "") throw new UsageError(`--start "${text}": write it as NAME=COMMAND, e.g. 'my-app=node app.js'`);
  if (/^([A-Z]+_[A-Z_]+|PORT|HOST|DEBUG)$/.test(name))
    throw new UsageError(`--start "${text}": ${name} is a variable: write a name before it, e.g. 'my-app=${text}'`);
  if (SERVERS.includes(name) || stackOf(name))
    throw new UsageError(`--start "${text}": ${name} is one of our servers: give another name`);
  return { kind: "local", name, command: ["sh", "-c", command], env, app };
}

export function baseOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new UsageError(`"${text}" is not a URL: write it as http://host:port`);
  }
  if (url.search || url.hash)
    throw new UsageError(`"${text}" has a query: give that with --endpoints, e.g. '/path?a=1'`);
  return url.origin + url.pathname.replace(/\/$/, "");
}

/**
 * Gives apps of users the tables of pgbench, in the database of their DATABASE_URL.
 * @throws UsageError for workloads of our content API, which they do not have
 */
export function onStore(apps: readonly LocalSpec[], workload: Workload = "read"): readonly LocalSpec[] {
  if (!WORKLOADS[workload].store || apps.length === 0) return apps;
  if (workload === "tpcb") return apps.map((app) => ({ ...app, env: { ...app.env, STORE: "postgres" } }));
  throw new UsageError(`--workload ${workload} needs the content API of the matrix: leave out --start`);
}

/**
 * One of the two targets of `compare`: a URL, an app, or a server of the matrix.
 * @param more its `name` is for a URL; by default the URL itself @throws UsageError
 */
export function parseEither(
  text: string,
  servers: readonly string[],
  apps: readonly LocalSpec[],
  more: { readonly workload?: Workload; readonly name?: string | undefined; readonly insecure?: boolean } = {},
): TargetSpec {
  const { workload, name, insecure } = more;
  if (text.includes("://")) {
    if (!workload || !WORKLOADS[workload].store)
      return { kind: "url", url: baseOf(text), name: name ?? hiddenText(text), ...(insecure && { insecure }) };
    throw new UsageError(`--workload ${workload} loads servers started here only: leave out ${text}`);
  }
  return apps.find((app) => app.name === text) ?? parseTarget(text, servers, workload);
}

/** Whether a target runs on this machine, which it then shares with the generator. */
export function isHere(spec: TargetSpec): boolean {
  if (spec.kind === "docker") return !spec.engine.address.startsWith("ssh://");
  return spec.kind === "local" || /^(localhost|127\..*|\[::1\])$/.test(new URL(spec.url).hostname);
}

/** Whether a target is started here from files of this project. */
export const isOurs = (spec: TargetSpec): boolean => spec.kind === "local" && spec.app === undefined;
