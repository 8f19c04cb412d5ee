import { setTimeout as sleep } from "node:timers/promises";
import { UsageError } from "../../../shared/errors.ts";
import type { Identity } from "../../../shared/identity.ts";
import type { AppSettings, TargetSpec } from "../../ask/targets.ts";
import { type Count, meterOf, together } from "../../host/meter.ts";
import { ask, ENDLESS, NOT_HTTP } from "../../load/ask.ts";
import type { AnswersSeen, Requests } from "../../load/request.ts";
import type { Clocks } from "../turns.ts";
import { isAnswered, words } from "./answers.ts";

/** A server under test that is up. */
export interface Target {
  readonly spec: TargetSpec;
  readonly name: string;
  readonly url: string;
  /** Requests that differ from their endpoint's name; set when the server is up, because it may provide some values. */
  requests?: Requests;
  /** Endpoint -> how large and how slow its answers were before the load. */
  answers?: Map<string, AnswersSeen>;
  /** Remarks for the user about how it is measured. */
  readonly notes?: readonly string[];
  /** What the server says at GET /; null if it does not identify itself. */
  readonly identity: Identity | null;
  /** Its first process, and its CPU clocks; null if they cannot be read here. */
  readonly pid: number | null;
  readonly clocks: Clocks | null;
  /** Direct URL of its own database, not of a pooler before it; null if there is none. */
  readonly databaseUrl: string | null;
  /** From its start to its first answer, null if it was not started here. */
  readonly startupMs: number | null;
  /** Asks the server or its engine what it has used since its start; null if neither reports it. */
  read(): Promise<Reading | null>;
  /** Why the server has ended; null if it runs, or if nothing is known. */
  ended(): string | null;
  stop(): Promise<void>;
}

/** Whether a target was started on this machine, so that no network limits it. */
export const isStartedHere = ({ pid, startupMs }: Target): boolean => pid !== null && startupMs !== null;

/** Processes of a database and of a pooler before it, each with its children; null if it does not exist or cannot be seen. */
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
export interface Reading extends Count {
  readonly rssBytes: number | null;
  /** How long a CPU quota kept it from running; null if that cannot be seen. */
  readonly throttledMs: number | null;
  /** Number of cores that it can keep busy. */
  readonly cores: number;
}

/** Time limit from start to first answer; apps of users may need longer than servers of the matrix. */
const READY_MS = 20_000;
const APP_READY_MS = 60_000;

/**
 * Waits until a server that was just started answers.
 * @param find tells the server's state
 * @param ready how an app shows that it is up; absent for a server of the matrix, which is up when it reports its identity
 * @returns its identity (null for an app), and its URL
 */
export async function untilReady(
  name: string,
  signal: AbortSignal,
  find: () => Promise<State> | State,
  ready?: Waiting,
): Promise<{ identity: Identity | null; url: string }> {
  const limit = ready === undefined ? READY_MS : APP_READY_MS;
  const deadline = Date.now() + limit;
  let wrong = { said: "", since: 0 };
  for (;;) {
    signal.throwIfAborted();
    const { up, url, log } = await find();
    if (!up) throw new UsageError(`${name} did not start: ${log}`);
    const answer = await firstAnswer(url, signal, ready);
    if (typeof answer === "object" && answer !== null) return { ...answer, url };
    if (answer !== null && answer !== wrong.said) wrong = { said: answer, since: Date.now() };
    // Stops waiting: the check that follows reports the wrong answer.
    if (wrong.said !== "" && !ready?.isReadyGiven && Date.now() - wrong.since > patienceWith(wrong.said))
      return { identity: null, url };
    const said = wrong.said && `: ${wrong.said}`;
    if (Date.now() > deadline) {
      const request = ready?.ready;
      const what = request && request.method !== "GET" ? `${request.method} ` : "";
      throw new UsageError(
        `${name} did not answer ${what}${url}${request?.path ?? ""} within ${limit / 1e3} s${said}${log && `: ${log}`}`,
      );
    }
    await sleep(10);
  }
}

type Waiting = Pick<AppSettings, "ready" | "isReadyGiven" | "insecure">;

/**
 * How long the same wrong answer must last until the wait ends, ms. A 5xx often ends when the app has connected to its database;
 * a connection without an answer often ends when the server behind a proxy has started.
 */
const patienceWith = (said: string): number =>
  /^status 5/.test(said) ? 15_000 : /^status/.test(said) || NOT_HTTP.test(said) ? 3_000 : Infinity;

/** @returns null as long as nothing listens */
const failureOf = ({ cause }: Error): string | null => {
  const { code, message } = (cause ?? {}) as { code?: string; message?: string };
  return code === "ECONNREFUSED" ? null : (code ?? message ?? null);
};

/** A server that is being started. */
export interface State {
  readonly up: boolean;
  /** Where to send the next request. */
  readonly url: string;
  /** What it said last, or why it is not up. */
  readonly log: string;
}

/** @returns its identity; a text if another answer came, or a connection failed; null if nothing listens */
async function firstAnswer(
  url: string,
  signal: AbortSignal,
  app?: Waiting,
): Promise<{ identity: Identity | null } | string | null> {
  if (app === undefined) {
    const identity = await readIdentity(url, signal).catch(() => undefined);
    return identity === undefined ? null : { identity };
  }
  const { ready, insecure = false } = app;
  const { path = "/", ...request } = ready ?? {};
  const answer = await ask({ ...request, url: url + path, insecure }, signal).catch((error: Error) => error);
  if (answer instanceof Error && (answer.cause as { code?: string } | undefined)?.code === ENDLESS) throw answer;
  if (answer instanceof Error) return failureOf(answer);
  return ready === null || isAnswered(answer, ready) ? { identity: null } : words(answer);
}

/** @returns what the server says it has used. */
export async function readItself(url: string, signal: AbortSignal, insecure = false): Promise<Reading | null> {
  const identity = await readIdentity(url, signal, insecure);
  if (identity === null) return null;
  const { cpuUs, pid, rssBytes, workers } = identity;
  return { cpuUs, pid, rssBytes, throttledMs: null, cores: workers };
}

/** @returns what a server says it is and has used, null if it answers something else. */
export async function readIdentity(url: string, signal: AbortSignal, insecure = false): Promise<Identity | null> {
  const { body } = await ask({ url: `${url}/`, insecure }, signal);
  try {
    const identity = JSON.parse(body.toString());
    return typeof identity?.server === "string" && typeof identity?.cpuUs === "number" ? identity : null;
  } catch {
    return null;
  }
}
