import { setTimeout as sleep } from "node:timers/promises";
import { UsageError } from "../../shared/errors.ts";
import type { Identity } from "../../shared/identity.ts";
import { requestOf } from "../load/fortio.ts";
import { ENDPOINTS, SEQUENCE } from "../plan/endpoints.ts";

/** A server under test that is up. */
export interface Target {
  readonly name: string;
  readonly url: string;
  /** What it says of itself, null for a server that does not. */
  readonly identity: Identity | null;
  /** Its process, where it runs on this machine and its threads can be read (Linux); null elsewhere. */
  readonly pid: number | null;
  /** A database that works for it alone, where it is a process of this machine; null where there is none. */
  readonly databasePid: number | null;
  /** From its start to its first answer, null where it was not started here. */
  readonly startupMs: number | null;
  /** What it has used since its start, as it says itself or its engine does; null where neither does. */
  read(): Promise<Reading | null>;
  stop(): Promise<void>;
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
 * @param ready a path that an app answers with 2xx when it is up; ours are up when they answer
 */
export async function untilReady(
  name: string,
  url: string,
  signal: AbortSignal,
  state: () => Promise<{ up: boolean; log: string }> | { up: boolean; log: string },
  ready?: string,
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
      const response = await get(url + ready, signal).catch(() => null);
      await response?.body?.cancel();
      if (response?.ok) return null;
      said = response ? ` but with ${response.status}` : "";
    }
    if (Date.now() > deadline) {
      throw new UsageError(
        `${name} did not answer at ${url}${ready ?? ""} within ${limit / 1e3} s${said}${log && `: ${log}`}`,
      );
    }
    await sleep(10);
  }
}

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

/** Asks each endpoint once. @throws UsageError where an answer is not what the contract says. */
export async function verify(
  { name, url }: Pick<Target, "name" | "url">,
  endpoints: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (const endpoint of endpoints) {
    const { path, json } = endpoint === SEQUENCE ? { path: "/content?limit=1" } : requestOf(endpoint);
    const response = await get(url + path, signal, json);
    const body = await response.text();
    const expected = json ? 201 : 200;
    const wrong =
      response.status === expected ? mistakeIn(endpoint, body) : `status ${response.status}, not ${expected}`;
    const remedy = ENDPOINTS.includes(endpoint) ? "give --endpoints with paths that it has" : "fix it, or leave it out";
    if (wrong) throw new UsageError(`${name} answers ${url}${path} with ${wrong}: ${remedy}`);
  }
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

/** @param json posted, if any */
async function get(url: string, signal: AbortSignal, json?: string): Promise<Response> {
  const post = json && { method: "POST", body: json, headers: { "content-type": "application/json" } };
  try {
    return await fetch(url, { ...post, signal: AbortSignal.any([signal, AbortSignal.timeout(5_000)]) });
  } catch (error) {
    signal.throwIfAborted();
    const { code, message } = error as { code?: string; message: string };
    throw new UsageError(`${url} cannot be reached (${code ?? message}): start the server, or fix the address`);
  }
}
