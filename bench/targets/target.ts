import { UsageError } from "../../shared/errors.ts";
import type { Identity } from "../../shared/identity.ts";

/** A server under test that is up. */
export interface Target {
  readonly name: string;
  readonly url: string;
  /** What it says of itself, null for a server that does not. */
  readonly identity: Identity | null;
  /** Its process, where it runs on this machine and its threads can be read (Linux); null elsewhere. */
  readonly pid: number | null;
  /** From its start to its first answer, null where it was not started here. */
  readonly startupMs: number | null;
  stop(): Promise<void>;
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
    const response = await get(url + endpoint, signal);
    const body = await response.text();
    const wrong = response.status === 200 ? mistakeIn(endpoint, body) : `status ${response.status}, not 200`;
    if (wrong)
      throw new UsageError(`${name} answers ${url}${endpoint} with ${wrong}: mend the server, or leave it out`);
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

async function get(url: string, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(5_000)]) });
  } catch (error) {
    signal.throwIfAborted();
    const { code, message } = error as { code?: string; message: string };
    throw new UsageError(`${url} cannot be reached (${code ?? message}): start the server, or mend the address`);
  }
}
