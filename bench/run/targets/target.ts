import { setTimeout as sleep } from "node:timers/promises";
import { UsageError } from "../../../shared/errors.ts";
import type { Identity } from "../../../shared/identity.ts";
import { SEQUENCE, type Workload } from "../../ask/endpoints.ts";
import type { HttpFile } from "../../ask/http-file.ts";
import { fillIn, requestOf } from "../../ask/requests.ts";
import type { AppSettings, TargetSpec } from "../../ask/targets.ts";
import { meterOf, together } from "../../host/meter.ts";
import { type Answer, ask } from "../../load/ask.ts";
import type { Asked, Request, Requests } from "../../load/request.ts";
import type { Plan } from "../../plan/plan.ts";
import type { Clocks } from "../turns.ts";

/** A server under test that is up. */
export interface Target {
  readonly spec: TargetSpec;
  readonly name: string;
  readonly url: string;
  /** What is asked at endpoints, if it is not what their name says; set when it is up, as some values may be its own. */
  requests?: Requests;
  /** Endpoint -> how large and how slow its answers were before the load. */
  answers?: Map<string, { readonly bytes: number; readonly ms: number }>;
  /** What its user is to know of how it is measured. */
  readonly notes?: readonly string[];
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

/** A server as it is asked. */
export type Reachable = Pick<Target, "url" | "requests" | "answers"> & { readonly spec?: TargetSpec };

/** Whether any certificate will do. */
export const isInsecure = (spec?: TargetSpec): boolean =>
  (spec?.kind === "url" && spec.insecure) || (spec?.kind === "local" && spec.app?.insecure) || false;

const addressed = ({ url, spec }: Reachable, { path, ...request }: Request): Asked => ({
  ...request,
  url: url + path,
  insecure: isInsecure(spec),
});

/** What a generator asks a server at an endpoint. */
export const askedAt = (target: Reachable, endpoint: string, workload?: Workload): Asked => {
  const answer = target.answers?.get(endpoint);
  return { ...addressed(target, requestOf(endpoint, target.requests, workload)), ...(answer && { answer }) };
};

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
    if (answer !== null && typeof answer === "object") return { ...answer, url };
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

/** What an app answers for so long, it goes on answering: a server error is often over when a database is connected. */
const patienceWith = (said: string): number => (/^status 5/.test(said) ? 15_000 : 3_000);

/** A server that is being started. */
export interface State {
  readonly up: boolean;
  /** Where it is to be asked next. */
  readonly url: string;
  /** What it said last, or why it is not up. */
  readonly log: string;
}

/** @returns its identity; a text if another answer came; null if none */
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
  const answer = await ask({ ...request, url: url + path, insecure }, signal).catch(() => null);
  if (answer === null) return null;
  return ready === null || isAnswered(answer, ready) ? { identity: null } : words(answer);
}

const isAnswered = ({ status }: Answer, { status: wanted }: Request): boolean =>
  wanted === undefined ? status >= 200 && status <= 299 : status === wanted;

/** How much of an answer is shown. */
const SHOWN = 200;

/** `302 (to /login)`, `500 "what it says"` */
function words({ status, headers, body }: Answer): string {
  const to = headers.location === undefined ? "" : ` (to ${headers.location})`;
  const text = body.toString().trim().replace(/\s+/g, " ");
  return `status ${status}${to}${text === "" ? "" : ` ${JSON.stringify(text.slice(0, SHOWN))}`}`;
}

/** @returns what the server says it has used. */
export async function readItself(url: string, signal: AbortSignal, insecure = false): Promise<Reading | null> {
  const identity = await readIdentity(url, signal, insecure);
  return identity && { cpuUs: identity.cpuUs, rssBytes: identity.rssBytes, throttledMs: null, cores: identity.workers };
}

/** @returns what a server says it is and has used, null where it answers something else. */
export async function readIdentity(url: string, signal: AbortSignal, insecure = false): Promise<Identity | null> {
  const { body } = await ask({ url: `${url}/`, insecure }, signal);
  try {
    const identity = JSON.parse(body.toString());
    return typeof identity?.server === "string" && typeof identity?.cpuUs === "number" ? identity : null;
  } catch {
    return null;
  }
}

/**
 * Fills in what is asked of a server that is up, and asks each endpoint as the load will, twice if it is an app's: what can
 * be asked only once cannot be loaded. Keeps how large and slow answers are. @throws UsageError for an answer that is not as it should be
 */
export async function verify(
  target: Pick<Target, "name" | "url" | "requests" | "answers"> & { spec?: TargetSpec; identity?: Identity | null },
  endpoints: readonly string[],
  signal: AbortSignal,
  { requests, live, workload }: Pick<Plan, "requests" | "live" | "workload"> = { workload: "read" },
): Promise<void> {
  const { name } = target;
  if (requests) target.requests = live ? await filled(target, live, requests, signal) : requests;
  target.answers = new Map();
  for (const endpoint of endpoints) {
    // Of a sequence, which its load checks, whether there are content items.
    const isOurs = target.identity !== null && requests?.[endpoint] === undefined;
    const asked = endpoint === SEQUENCE && isOurs ? "/content?limit=1" : endpoint;
    const request = requestOf(asked, target.requests, workload);
    const what = request.method === "GET" ? request.path : `${request.method} ${request.path}`;
    const statuses: number[] = [];
    for (let n = 0; n < (isOurs ? 1 : 2); n++) {
      const answer = await ask(addressed(target, request), signal);
      statuses.push(answer.status);
      if (!isAnswered(answer, request)) throw new UsageError(refusal(name, what, answer, statuses));
      const wrong = isOurs ? mistakeIn(endpoint, answer.body.toString()) : undefined;
      if (wrong) throw new UsageError(`${name} answers ${what} with ${wrong}: give --endpoints with paths that it has`);
      keep(target.answers, endpoint, answer);
    }
  }
}

/** @param statuses of all answers to the request, in their order */
function refusal(name: string, what: string, answer: Answer, statuses: readonly number[]): string {
  const [first] = statuses;
  if (statuses.length > 1)
    return `${name} answers ${what} with status ${first}, then with ${words(answer)}: it can be asked only once, and a load asks it again and again: give another request`;
  const remedy =
    answer.headers.location !== undefined
      ? "give the path that it leads to"
      : answer.status === 404
        ? "give --endpoints with paths that it has"
        : "only answers with status 2xx are loaded: fix it, or leave it out";
  return `${name} answers ${what} with ${words(answer)}: ${remedy}`;
}

function keep(answers: NonNullable<Target["answers"]>, endpoint: string, { headers, body, ms }: Answer): void {
  const before = answers.get(endpoint);
  const bytes = body.length + JSON.stringify(headers).length;
  answers.set(endpoint, { bytes: Math.max(bytes, before?.bytes ?? 0), ms: Math.max(ms, before?.ms ?? 0) });
}

/** @throws UsageError if a request that others need fails */
const filled = (target: Reachable & { name: string }, live: HttpFile, requests: Requests, signal: AbortSignal) =>
  fillIn(live, requests, async (request) => {
    const answer = await ask(addressed(target, request), signal);
    if (isAnswered(answer, request)) return answer;
    throw new UsageError(
      `${target.name} answers ${request.method} ${request.path}, which other requests need, with ${words(answer)}: fix it`,
    );
  });

/** @returns the first answer to an endpoint's request that failed, of so many; null if none does */
export async function firstFailure(target: Target, endpoint: string, signal: AbortSignal): Promise<string | null> {
  const request = requestOf(endpoint, target.requests);
  for (let n = 0; n < FAILURE_ASKS; n++) {
    const answer = await ask(addressed(target, request), signal).catch((error: Error) => error);
    if (answer instanceof Error) return answer.message;
    if (!isAnswered(answer, request)) return words(answer);
  }
  return null;
}
const FAILURE_ASKS = 50;

/** How often each side is asked, and how much longer the shortest answer of one may be than the longest of the other. */
const ASKS = 5;
const LENGTH_TOLERANCE = 0.1;

/** @returns how the answers of two servers differ in status, type or length, null where they do not; rows may differ. */
export async function differenceOf(
  endpoint: string,
  a: Target,
  b: Target,
  signal: AbortSignal,
  workload?: Workload,
): Promise<string | null> {
  const look = async (target: Target) => {
    const asked = askedAt(target, endpoint === SEQUENCE ? "/content?limit=1" : endpoint, workload);
    const seen: { status: number; type: string; bytes: number }[] = [];
    for (let i = 0; i < (asked.method === "GET" ? ASKS : 1); i++) {
      const { status, headers, body } = await ask(asked, signal);
      seen.push({ status, type: headers["content-type"]?.split(";")[0] ?? "no type", bytes: body.length });
    }
    const lengths = seen.map(({ bytes }) => bytes);
    return { ...(seen[0] as (typeof seen)[0]), least: Math.min(...lengths), most: Math.max(...lengths) };
  };
  const [x, y] = [await look(a), await look(b)];
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

/** @returns how long a server takes to answer at an endpoint, ms. */
export const timeAnswer = async (
  target: Target,
  endpoint: string,
  { signal, manifest }: { signal: AbortSignal; manifest: { plan: Pick<Plan, "workload"> } },
): Promise<number> => (await ask(askedAt(target, endpoint, manifest.plan.workload), signal)).ms;
