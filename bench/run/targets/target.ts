import { setTimeout as sleep } from "node:timers/promises";
import { UsageError } from "../../../shared/errors.ts";
import type { Identity } from "../../../shared/identity.ts";
import type { AppSettings, TargetSpec } from "../../ask/targets.ts";
import { meterOf, together } from "../../host/meter.ts";
import { ask, ENDLESS, NOT_HTTP } from "../../load/ask.ts";
import type { AnswersSeen, Requests } from "../../load/request.ts";
import type { Clocks } from "../turns.ts";
import { isAnswered, words } from "./answers.ts";

/** A server under test that is up. */
export interface Target {
  readonly spec: TargetSpec;
  readonly name: string;
  readonly url: string;
  /** What is asked at endpoints, if it is not what their name says; set when it is up, as some values may be its own. */
  requests?: Requests;
  /** Endpoint -> how large and how slow its answers were before the load. */
  answers?: Map<string, AnswersSeen>;
  /** Remarks for the user about how it is measured. */
  readonly notes?: readonly string[];
  /** What the server says at GET /; null if it does not identify itself. */
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

/** Whether a target runs on this machine, so that there is no line to it. */
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
  /** How long a CPU quota kept it from running; null if that cannot be seen. */
  readonly throttledMs: number | null;
  /** Number of cores that it can keep busy. */
  readonly cores: number;
}

/** How long a server may take until it answers; an app of others may have more to do. */
const READY_MS = 20_000;
const APP_READY_MS = 60_000;

/**
 * Waits until a server that was just started answers.
 * @param find where it is, as far as that is known, and what it says
 * @param ready what an app answers as it should when it is up, null for any answer; ours are up when they say what they are
 * @returns what a server of ours says of itself, and where it is
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
    // The check that follows says what is wrong with it.
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
 * What an app answers for so long, it goes on answering: a server error is often over when a database is connected, and a
 * connection without an answer when what a proxy stands before has started.
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
  /** Where it is to be asked next. */
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
  return identity && { cpuUs: identity.cpuUs, rssBytes: identity.rssBytes, throttledMs: null, cores: identity.workers };
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
