import { setTimeout as sleep } from "node:timers/promises";
import { UsageError } from "../../../shared/errors.ts";
import type { Identity } from "../../../shared/identity.ts";
import { ENDPOINTS, SEQUENCE } from "../../ask/endpoints.ts";
import { requestOf } from "../../ask/requests.ts";
import type { TargetSpec } from "../../ask/targets.ts";
import { meterOf, together } from "../../host/meter.ts";
import type { Request, Requests } from "../../load/request.ts";
import type { Clocks } from "../turns.ts";

/** A server under test that is up. */
export interface Target {
  readonly spec: TargetSpec;
  readonly name: string;
  readonly url: string;
  /** What it says of itself, null for a server that does not. */
  readonly identity: Identity | null;
  /** Its first process, and the clocks of all that works for it, if they can be read here (Linux); null elsewhere. */
  readonly pid: number | null;
  readonly clocks: Clocks | null;
  /** Of its own database, whatever is before it; null if there is none. */
  readonly databaseUrl: string | null;
  /** From its start to its first answer, null if it was not started here. */
  readonly startupMs: number | null;
  /** What it has used since its start, as it says itself or its engine does; null if neither does. */
  read(): Promise<Reading | null>;
  /** Why it is not up any more, as far as that is known; null while it is, or if nothing is known. */
  ended(): string | null;
  stop(): Promise<void>;
}

/** Then there is no line to it. */
export const isStartedHere = ({ pid, startupMs }: Target): boolean => pid !== null && startupMs !== null;

/** A database and a pooler before it, each with its children; null if there is none, or it cannot be seen. */
export interface Helpers {
  readonly database: number | null;
  readonly pooler: number | null;
  readonly databaseUrl: string | null;
}
export const NO_HELPERS: Helpers = { database: null, pooler: null, databaseUrl: null };

/** @param group the folder of the control group that holds just this server's processes */
export function clocksOf(pid: number, group: string | null, { database, pooler }: Helpers = NO_HELPERS): Clocks {
  const server = meterOf(pid, group);
  const helping = [database, pooler].map((helper) => (helper === null ? null : meterOf(helper, null)));
  const all = together([server, ...helping.flatMap((meter) => meter ?? [])]);
  return { all, server, database: helping[0] ?? null, pooler: helping[1] ?? null };
}

/** What a server has used since its start. */
export interface Reading {
  readonly cpuUs: number;
  readonly rssBytes: number | null;
  /** How long a CPU quota kept it from running; null where that cannot be seen. */
  readonly throttledMs: number | null;
  /** How many it can keep busy. */
  readonly cores: number;
}

/** How long a server may take until it answers; an app of others may have more to do. */
const READY_MS = 20_000;
const APP_READY_MS = 60_000;

/**
 * Waits until a server that was just started answers.
 * @param state whether it is still up, and its log if not
 * @param ready what an app answers as it should when it is up; ours are up when they answer
 */
export async function untilReady(
  name: string,
  url: string,
  signal: AbortSignal,
  state: () => Promise<{ up: boolean; log: string }> | { up: boolean; log: string },
  ready?: Request,
): Promise<Identity | null> {
  const limit = ready === undefined ? READY_MS : APP_READY_MS;
  const deadline = Date.now() + limit;
  for (let said = ""; ; ) {
    signal.throwIfAborted();
    const { up, log } = await state();
    if (!up) throw new UsageError(`${name} did not start: ${log}`);
    if (ready === undefined) {
      const identity = await readIdentity(url, signal).catch(() => undefined);
      if (identity !== undefined) return identity;
    } else {
      const response = await get(url + ready.path, signal, ready).catch(() => null);
      await response?.body?.cancel();
      if (response && isAnswered(response, ready)) return null;
      said = response ? ` but with ${response.status}` : "";
    }
    if (Date.now() > deadline) {
      throw new UsageError(
        `${name} did not answer ${ready && ready.method !== "GET" ? `${ready.method} ` : ""}${url}${ready?.path ?? ""} within ${limit / 1e3} s${said}${log && `: ${log}`}`,
      );
    }
    await sleep(10);
  }
}

const isAnswered = (response: Response, { status }: Request): boolean =>
  status === undefined ? response.ok : response.status === status;

/** @returns what a server that says it has used. */
export async function readItself(url: string, signal: AbortSignal): Promise<Reading | null> {
  const identity = await readIdentity(url, signal);
  return identity && { cpuUs: identity.cpuUs, rssBytes: identity.rssBytes, throttledMs: null, cores: identity.workers };
}

/** @returns what the server at `url` says it is and has used, null where it answers something else. */
export async function readIdentity(url: string, signal: AbortSignal): Promise<Identity | null> {
  const response = await get(`${url}/`, signal);
  const body = await response.text();
  try {
    const identity = JSON.parse(body);
    return typeof identity?.server === "string" && typeof identity?.cpuUs === "number" ? identity : null;
  } catch {
    return null;
  }
}

/** What is asked of an endpoint before it is loaded: of a sequence, which its load checks, whether there are content items. */
const askedAt = (endpoint: string, requests?: Requests) =>
  requestOf(endpoint === SEQUENCE ? "/content?limit=1" : endpoint, requests);

/** Asks each endpoint once. @throws UsageError where an answer is not what the contract says. */
export async function verify(
  { name, url }: Pick<Target, "name" | "url">,
  endpoints: readonly string[],
  signal: AbortSignal,
  requests?: Requests,
): Promise<void> {
  for (const endpoint of endpoints) {
    const request = askedAt(endpoint, requests);
    const { path, status = "2xx" } = request;
    const response = await get(url + path, signal, request);
    const body = await response.text();
    const isRight = status === "2xx" ? response.ok : response.status === status;
    const wrong = isRight ? mistakeIn(endpoint, body) : `status ${response.status}, not ${status}`;
    const remedy = ENDPOINTS.includes(endpoint) ? "give --endpoints with paths that it has" : "fix it, or leave it out";
    if (wrong) throw new UsageError(`${name} answers ${url}${path} with ${wrong}: ${remedy}`);
  }
}

/** How often each side is asked, and how much longer the shortest answer of one may be than the longest of the other. */
const ASKS = 5;
const LENGTH_TOLERANCE = 0.1;

/** @returns how the answers of two servers differ in status, type or length, null where they do not; rows may differ. */
export async function differenceOf(
  endpoint: string,
  a: Pick<Target, "name" | "url">,
  b: Pick<Target, "name" | "url">,
  signal: AbortSignal,
  requests?: Requests,
): Promise<string | null> {
  const request = askedAt(endpoint, requests);
  const ask = async ({ url }: Pick<Target, "url">) => {
    const seen: { status: number; type: string; bytes: number }[] = [];
    for (let i = 0; i < (request.method === "GET" ? ASKS : 1); i++) {
      const response = await get(url + request.path, signal, request);
      const bytes = (await response.arrayBuffer()).byteLength;
      const type = response.headers.get("content-type")?.split(";")[0] ?? "no type";
      seen.push({ status: response.status, type, bytes });
    }
    const lengths = seen.map(({ bytes }) => bytes);
    return { ...(seen[0] as (typeof seen)[0]), least: Math.min(...lengths), most: Math.max(...lengths) };
  };
  const [x, y] = [await ask(a), await ask(b)];
  const longer = (p: typeof x, q: typeof x) => p.least > q.most * (1 + LENGTH_TOLERANCE);
  if (x.status === y.status && x.type === y.type && !longer(x, y) && !longer(y, x)) return null;
  const show = ({ status, type, bytes }: typeof x) => `${status}, ${type}, ${bytes} bytes`;
  return `${endpoint} is answered differently: ${a.name} with ${show(x)}; ${b.name} with ${show(y)}`;
}

function mistakeIn(endpoint: string, body: string): string | undefined {
  const size = /^\/sqlite\/random-\d+fields\/(\d+)$/.exec(endpoint)?.[1];
  const what = () => JSON.stringify(body.slice(0, 60));
  if (endpoint === "/plain") return body === '{"message":"Hello, world!"}' ? undefined : what();
  if (endpoint === "/html-template") return body.includes("Hi Ben") ? undefined : what();
  if (size === undefined) return undefined;
  try {
    const rows = JSON.parse(body).length;
    return rows === Number(size) ? undefined : `${rows} rows, not ${size}`;
  } catch {
    return what();
  }
}

/** @returns how long a server takes to answer a request, ms. */
export async function timeAnswer(url: string, request: Request, signal: AbortSignal): Promise<number> {
  const since = performance.now();
  await (await get(url + request.path, signal, request)).arrayBuffer();
  return performance.now() - since;
}

/** How long an answer may take. */
const ANSWER_MS = 30_000;

async function get(
  url: string,
  signal: AbortSignal,
  { method, headers, body }: Partial<Request> = {},
): Promise<Response> {
  const asked = { ...(method && { method }), ...(headers && { headers }), ...(body !== undefined && { body }) };
  try {
    return await fetch(url, { ...asked, signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]) });
  } catch (error) {
    signal.throwIfAborted();
    const { code, message, name } = error as { code?: string; message: string; name: string };
    if (name === "TimeoutError")
      throw new UsageError(`${url} is not answered within ${ANSWER_MS / 1e3} s: leave it out, or make it faster`);
    throw new UsageError(`${url} cannot be reached (${code ?? message}): start the server, or fix the address`);
  }
}
