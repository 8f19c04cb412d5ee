/** The request of an endpoint: by default a GET of its path. */
import { readFileSync } from "node:fs";
import { UsageError } from "../../shared/errors.ts";
import type { Answer } from "../load/ask.ts";
import { bodyOf, type Request, type Requests } from "../load/request.ts";
import { hiddenText } from "../load/secrets.ts";
import { fromCaller } from "./caller.ts";
import { SEQUENCE, WORKLOADS, type Workload } from "./endpoints.ts";
import { fieldsOf, readHar } from "./har.ts";
import { decoded, type HttpFile, readHttpFile } from "./http-file.ts";

const JSON_TYPE = { "content-type": "application/json" };

/** The body that is posted to an endpoint of the matrix whose name begins with POST, and the status of its answer. */
const POSTED: Readonly<Record<string, readonly [body: object, status: number]>> = {
  "/content": [
    { title: "A title", body: "Some text. ".repeat(40), author: "Ada Lovelace", data: { tags: ["load"] } },
    201,
  ],
  "/users": [{ name: "Ada Lovelace", email: "ada@example.com" }, 201],
  "/tx": [{ aid: 1, tid: 1, bid: 1, delta: 1 }, 200],
};

/**
 * @param own the user's requests, by endpoint @param workload if it has a store, POST endpoints get our body
 * @returns for a sequence, whose load sends others too: a request that reads content items
 */
export function requestOf(endpoint: string, own: Requests = {}, workload: Workload = "read"): Request {
  if (own[endpoint]) return own[endpoint];
  if (endpoint === SEQUENCE) return { method: "GET", path: "/content?limit=1", headers: {} };
  const [, method = "GET", path = ""] = /^(?:([A-Z]+) )?(.*)$/s.exec(endpoint) ?? [];
  const [posted, status] = (WORKLOADS[workload].store && method === "POST" && POSTED[path]) || [];
  if (posted && status) return { method, path, headers: JSON_TYPE, body: JSON.stringify(posted), status };
  return { method, path, headers: {} };
}

/** Whether it is an endpoint of the matrix that adds rows and does not delete them. */
export const isOurPost = (endpoint: string): boolean =>
  POSTED[endpoint.replace(/^POST /, "")] !== undefined && endpoint.startsWith("POST ");

/** A GET without body is named by its path alone, as endpoints are. Names are shown everywhere, so they have no secrets. */
export const nameOf = ({ method, path }: Pick<Request, "method" | "path">): string =>
  hiddenText(method === "GET" ? path : `${method} ${path}`);

/** Time in s or ms since 1970, which pages add to the URLs that they poll. */
const TIME = /(?<==)1[5-9]\d{8}(\d{3})?(?=&|$)/g;

/** What equal requests of a recording have in common; not headers, because some (e.g. of a trace) differ each time. */
const recorded = ({ method, path, body }: Request): unknown => [method, path.replace(TIME, ""), body];

/**
 * @param contentOf requests with the same content are equal
 * @returns name -> request, in their order, equal requests once; a different request with the same name is `/path (2)`
 */
function named(
  requests: readonly Request[],
  contentOf: (request: Request) => unknown,
): { requests: Requests; equal: number } {
  const all: Record<string, Request> = {};
  const known = new Set<string>();
  for (const request of requests) {
    const content = JSON.stringify(contentOf(request));
    if (known.has(content)) continue;
    known.add(content);
    const name = nameOf(request);
    let free = name;
    for (let n = 2; all[free]; n++) free = `${name} (${n})`;
    all[free] = request;
  }
  return { requests: all, equal: requests.length - known.size };
}

/** @returns what --header adds to requests. @throws UsageError */
export function headersFrom(headers: readonly string[]): Request["headers"] {
  const wrong = headers.find((header) => !/^[\w-]+:/.test(header));
  if (wrong !== undefined) throw new UsageError(`--header "${wrong}": write it as 'name: value'`);
  const fields = fieldsOf(headers.map((header) => fieldOf(header)));
  const own = Object.keys(fields).find((name) => OF_GENERATOR.test(name));
  if (own) throw new UsageError(`--header "${own}" is set by the load generator: leave it out`);
  return fields;
}

/** What --header and --body add to endpoints, and the requests of endpoints whose names hide a secret. @throws UsageError */
export function withOptions(endpoints: readonly string[], headers: readonly string[], body?: string): Requests {
  const hidden = endpoints.filter((endpoint) => hiddenText(endpoint) !== endpoint);
  if (headers.length === 0 && body === undefined)
    return Object.fromEntries(hidden.map((endpoint) => [hiddenText(endpoint), requestOf(endpoint)]));
  const fields = headersFrom(headers);
  if (body !== undefined && !endpoints.some((endpoint) => requestOf(endpoint).method !== "GET"))
    throw new UsageError(
      `--body requires an endpoint with a method, e.g. --endpoints 'POST ${endpoints[0] ?? "/login"}'`,
    );
  const content = body?.startsWith("@") ? bodyOf(read("--body", fromCaller(body.slice(1)))) : { body };
  return Object.fromEntries(
    endpoints.map((endpoint) => {
      const request = requestOf(endpoint);
      const sends = body !== undefined && request.method !== "GET";
      const all = { ...(sends && JSON_TYPE), ...request.headers, ...fields };
      return [hiddenText(endpoint), { ...request, headers: all, ...(sends && content) } as Request];
    }),
  );
}

export interface RequestsRead {
  readonly requests: Requests;
  /** The file again, if a running server must fill in some values. */
  readonly live?: HttpFile;
  /** Messages about what is left out. */
  readonly notes: readonly string[];
}

/** @param from a HAR, or an .http file of an editor @throws UsageError */
export async function readRequests(from: HttpFile): Promise<RequestsRead> {
  const { file } = from;
  const text = decoded(read("--requests", file));
  const isHar = /\.har$/i.test(file) || /^\uFEFF?\s*\{(?!\{)/.test(text);
  const { requests: all, notes, isLive } = isHar ? { ...readHar(text, from), isLive: false } : await readHttpFile(from);
  const { requests, equal } = named(all, isHar ? recorded : (request) => request);
  if (all.length === 0)
    throw new UsageError(`--requests "${file}" has no request that can be loaded${notes.map((note) => ` (${note})`)}`);
  // After any other status, generators open a new connection, and the run would measure that.
  const other = all.find(({ status = 200 }) => status < 200 || status > 299);
  if (other)
    throw new UsageError(`--requests "${file}": ${nameOf(other)} expects ${other.status}: only 2xx can be loaded`);
  const twice = equal > 0 ? [`${file}: ${equal} equal to another one, loaded once`] : [];
  return { requests, ...(isLive && { live: from }), notes: [...notes, ...twice] };
}

/**
 * Fills in the requests of a file with values of a running server: sends the requests first that others need.
 * @param requests as they were read before @throws UsageError
 */
export async function fillIn(
  live: HttpFile,
  requests: Requests,
  ask: (request: Request) => Promise<Answer>,
): Promise<Requests> {
  const [asWritten, filled] = [await readHttpFile(live), await readHttpFile(live, ask)];
  const byText = new Map(asWritten.requests.map((request, i) => [JSON.stringify(request), filled.requests[i]]));
  return Object.fromEntries(
    Object.entries(requests).map(([name, request]) => [name, byText.get(JSON.stringify(request)) ?? request]),
  );
}

function fieldOf(line: string): { name: string; value: string } {
  const [name = "", value = ""] = line.split(/:(.*)/s);
  return { name: name.trim(), value: value.trim() };
}

/** Headers that would contradict the generator's connection or the body that it sends. */
const OF_GENERATOR = /^(connection|content-length|transfer-encoding|upgrade)$/;

function read(option: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new UsageError(`${option} "${file}" cannot be read (${(error as Error).message})`);
  }
}
