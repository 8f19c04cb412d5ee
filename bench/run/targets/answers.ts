/** Checks what servers answer before the load and after failures, with the requests of the load. */
import { UsageError } from "../../../shared/errors.ts";
import type { Identity } from "../../../shared/identity.ts";
import type { Workload } from "../../ask/endpoints.ts";
import type { HttpFile } from "../../ask/http-file.ts";
import { fillIn, nameOf, requestOf } from "../../ask/requests.ts";
import type { TargetSpec } from "../../ask/targets.ts";
import { type Answer, ask } from "../../load/ask.ts";
import type { Asked, Request, Requests } from "../../load/request.ts";
import type { Plan } from "../../plan/plan.ts";
import type { Target } from "./target.ts";

export type Reachable = Pick<Target, "url" | "requests" | "answers"> & Partial<Pick<Target, "spec" | "identity">>;

/** Whether any certificate is accepted. */
export const isInsecure = (spec?: TargetSpec): boolean =>
  (spec?.kind === "url" && spec.insecure) || (spec?.kind === "local" && spec.app?.insecure) || false;

const addressed = ({ url, spec }: Reachable, { path, ...request }: Request): Asked => ({
  ...request,
  url: url + path,
  insecure: isInsecure(spec),
});

/** What a generator asks a server at an endpoint. */
export const askedAt = (target: Reachable, endpoint: string, workload: Workload): Asked => {
  const answer = target.answers?.get(endpoint);
  const request = addressed(target, requestOf(endpoint, target.requests, workload));
  return { ...request, mayClose: target.identity === null, ...(answer && { answer }) };
};

/** Whether an answer has the status that is expected. */
export const isAnswered = ({ status }: Answer, { status: wanted }: Request): boolean =>
  wanted === undefined ? status >= 200 && status <= 299 : status === wanted;

/** How much of an answer is shown. */
const SHOWN = 200;

/** `302 (to /login)`, `500 "what it says"` */
export function words({ status, headers, body }: Answer): string {
  const to = headers.location === undefined ? "" : ` (to ${headers.location})`;
  const text = body.toString().trim().replace(/\s+/g, " ");
  return `status ${status}${to}${text === "" ? "" : ` ${JSON.stringify(text.slice(0, SHOWN))}`}`;
}

/**
 * Fills in the requests with values of the running server, then sends the request of each endpoint as the load will: twice to an app,
 * because a request that works only once cannot be loaded. Keeps size and time of the answers. @throws UsageError for a wrong answer
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
    const isOurs = target.identity !== null && requests?.[endpoint] === undefined;
    // For a sequence, checks only that content items can be read, because its load checks the rest.
    const request = requestOf(endpoint, target.requests, workload);
    const statuses: number[] = [];
    for (let n = 0; n < (isOurs ? 1 : 2); n++) {
      const answer = await ask(addressed(target, request), signal);
      statuses.push(answer.status);
      if (!isAnswered(answer, request)) throw new UsageError(refusal(name, request, answer, statuses));
      const wrong = isOurs ? mistakeIn(endpoint, answer.body.toString()) : undefined;
      if (wrong)
        throw new UsageError(
          `${name} answers ${nameOf(request)} with ${wrong}: give --endpoints with paths that it has`,
        );
      keep(target.answers, endpoint, answer);
    }
  }
}

/** @param statuses of all answers to the request, in their order */
function refusal(name: string, request: Request, answer: Answer, statuses: readonly number[]): string {
  const what = nameOf(request);
  const [first] = statuses;
  if (answer.status === 429)
    return `${name} answers ${what} with ${words(answer)}: turn its rate limit off for the run`;
  // A 5xx may come at any time; any other status means that the server refuses the repeated request.
  if (statuses.length > 1 && answer.status < 500)
    return `${name} answers ${what} with status ${first}, then with ${words(answer)}: it can be asked only once, and a load asks it again and again: give another request`;
  return `${name} answers ${what} with ${words(answer)}: ${remedyFor(request.path, answer)}`;
}

function remedyFor(path: string, { status, headers: { location } }: Answer): string {
  if (location?.startsWith("https:") && URL.parse(location)?.pathname === path.replace(/\?.*/s, ""))
    return "it wants HTTPS: turn that off for the run, or give --header 'x-forwarded-proto: https', as its proxy does";
  if (location !== undefined) return "give the path that it leads to";
  if (status === 404) return "give --endpoints with paths that it has";
  if (status === 401 || status === 403) return "give what it asks for, with --header or --requests";
  return "only answers with status 2xx are loaded: fix it, or leave it out";
}

function keep(
  answers: NonNullable<Target["answers"]>,
  endpoint: string,
  { headers, body, ms, isUnusual }: Answer,
): void {
  const before = answers.get(endpoint);
  const bytes = body.length + JSON.stringify(headers).length;
  // Some servers count `max` down, so the first answer has the full number.
  const most = /\bmax=(\d+)/.exec(headers["keep-alive"] ?? "")?.[1];
  answers.set(endpoint, {
    bytes: Math.max(bytes, before?.bytes ?? 0),
    ms: Math.max(ms, before?.ms ?? 0),
    isUnusual: isUnusual || before?.isUnusual || false,
    perConnection: before?.perConnection ?? (Number(most) || undefined),
  });
}

/** @throws UsageError if a request that others need fails */
const filled = (target: Reachable & { name: string }, live: HttpFile, requests: Requests, signal: AbortSignal) =>
  fillIn(live, requests, async (request) => {
    const answer = await ask(addressed(target, request), signal);
    if (isAnswered(answer, request)) return answer;
    throw new UsageError(
      `${target.name} answers ${nameOf(request)}, which other requests need, with ${words(answer)}: fix it`,
    );
  });

/** @returns the first failed answer of FAILURE_ASKS requests to an endpoint; null if none fails */
export async function firstFailure(
  target: Reachable,
  endpoint: string,
  signal: AbortSignal,
  workload: Workload,
): Promise<string | null> {
  const request = requestOf(endpoint, target.requests, workload);
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

/** @returns how the answers of two servers differ in status, type or length, null if they do not; different rows do not count. */
export async function differenceOf(
  endpoint: string,
  a: Target,
  b: Target,
  signal: AbortSignal,
  workload: Workload,
): Promise<string | null> {
  const look = async (target: Target) => {
    const asked = askedAt(target, endpoint, workload);
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
  // Some JSON libraries end with a newline.
  if (endpoint === "/plain") return body.trimEnd() === '{"message":"Hello, world!"}' ? undefined : what();
  if (endpoint === "/html-template") return body.includes("Hi Ben") ? undefined : what();
  if (size === undefined) return undefined;
  try {
    const rows = JSON.parse(body).length;
    return rows === Number(size) ? undefined : `${rows} rows, not ${size}`;
  } catch {
    return what();
  }
}
