import { UsageError } from "../shared/errors.ts";

/** The eight endpoints that are measured unless others are asked for. */
export const ENDPOINTS = [
  "/plain",
  "/html-template",
  ...["5fields", "30fields"].flatMap((kind) => [1, 5, 10].map((size) => `/sqlite/random-${kind}/${size}`)),
];

/** One server of the matrix as it is to be started here. */
export interface LocalSpec {
  readonly kind: "local";
  readonly name: string;
  readonly server: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A server that runs already; `name` where it does not say itself what it is. */
export interface UrlSpec {
  readonly kind: "url";
  readonly url: string;
  readonly name: string | undefined;
}

export type TargetSpec = LocalSpec | UrlSpec;

export interface Plan {
  readonly targets: readonly TargetSpec[];
  readonly endpoints: readonly string[];
  readonly connections: number;
  /** Of one slice: a target under load at one endpoint. */
  readonly seconds: number;
  /** Of load at each endpoint before the first slice, so that what is measured is compiled. */
  readonly warmupSeconds: number;
}

export interface Options {
  readonly urls: readonly string[];
  readonly names: readonly string[];
  readonly servers: readonly string[];
  readonly endpoints: readonly string[];
  readonly connections: number;
  readonly seconds: number;
}

/**
 * @param servers SERVER names of the matrix; all of them are the default.
 * @throws UsageError for a server, endpoint or URL that cannot be measured.
 */
export function makePlan(options: Options, servers: readonly string[]): Plan {
  const { urls, names, connections, seconds } = options;
  if (urls.length > 0 && options.servers.length > 0) {
    throw new UsageError("--servers starts servers here, a URL measures one that runs already: give one of the two");
  }
  if (names.length > urls.length) {
    throw new UsageError(`--name "${names[urls.length]}" has no URL to belong to: give as many names as URLs`);
  }
  for (const endpoint of options.endpoints) {
    if (!endpoint.startsWith("/")) throw new UsageError(`--endpoints has "${endpoint}": a path starts with /`);
  }
  const local = () =>
    (options.servers.length > 0 ? options.servers : servers).map((text) => parseTarget(text, servers));
  return {
    targets:
      urls.length > 0
        ? urls.map((url, i) => ({ kind: "url", url: baseOf(url), name: names[i] || undefined }))
        : local(),
    endpoints: options.endpoints.length > 0 ? options.endpoints : ENDPOINTS,
    connections,
    seconds,
    warmupSeconds: Math.min(1, seconds),
  };
}

/** `bun-hono`, `bun-hono@node:sqlite` or `bun-hono@node:sqlite*4`: a server, its SQLite driver, its workers. */
export function parseTarget(text: string, servers: readonly string[]): LocalSpec {
  const [, server = "", driver, workers] = /^([^@*]*)(?:@([^*]+))?(?:\*(\d+))?$/.exec(text) ?? [];
  if (!servers.includes(server)) {
    throw new UsageError(`--servers has "${text}": choose from ${servers.join(" ")}, each as NAME[@DRIVER][*WORKERS]`);
  }
  return {
    kind: "local",
    name: text,
    server,
    env: { ...(driver && { SQLITE_DRIVER: driver }), ...(workers && { WORKERS: workers }) },
  };
}

function baseOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new UsageError(`"${text}" is not a URL: write it as http://host:port`);
  }
  return url.origin + url.pathname.replace(/\/$/, "");
}
