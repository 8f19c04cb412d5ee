/** What is asked at an endpoint: a GET of its path, unless more is said. */
import { readFileSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";
import { UsageError } from "../../shared/errors.ts";
import type { Request, Requests } from "../load/request.ts";
import { fromCaller } from "./caller.ts";

const JSON_TYPE = { "content-type": "application/json" };

/** What is posted to an endpoint of ours whose name begins with POST, and the status of its answer. */
const POSTED: Readonly<Record<string, readonly [body: object, status: number]>> = {
  "/content": [
    { title: "A title", body: "Some text. ".repeat(40), author: "Ada Lovelace", data: { tags: ["load"] } },
    201,
  ],
  "/users": [{ name: "Ada Lovelace", email: "ada@example.com" }, 201],
  "/tx": [{ aid: 1, tid: 1, bid: 1, delta: 1 }, 200],
};

/** @param own requests of the user, by endpoint */
export function requestOf(endpoint: string, own: Requests = {}): Request {
  const [, method = "GET", path = ""] = /^(?:([A-Z]+) )?(.*)$/s.exec(endpoint) ?? [];
  if (own[endpoint]) return own[endpoint];
  const [posted, status] = (method === "POST" && POSTED[path]) || [];
  if (posted && status) return { method, path, headers: JSON_TYPE, body: JSON.stringify(posted), status };
  return { method, path, headers: {}, ...(method === "GET" && { status: 200 }) };
}

/** Whether it is one of ours that adds what stays. */
export const isOurPost = (endpoint: string): boolean =>
  POSTED[endpoint.replace(/^POST /, "")] !== undefined && endpoint.startsWith("POST ");

/** A GET without body is named by its path alone, as endpoints are. */
const nameOf = ({ method, path }: Request): string => (method === "GET" ? path : `${method} ${path}`);

/** @param requests of which two may have one name: then the second is `/path (2)` */
function named(requests: readonly Request[]): Requests {
  const all: Record<string, Request> = {};
  for (const request of requests) {
    const name = nameOf(request);
    let free = name;
    for (let n = 2; all[free]; n++) free = `${name} (${n})`;
    all[free] = request;
  }
  return all;
}

/** What --header and --body add to endpoints. @throws UsageError */
export function withOptions(endpoints: readonly string[], headers: readonly string[], body?: string): Requests {
  if (headers.length === 0 && body === undefined) return {};
  const wrong = headers.find((header) => !/^[\w-]+:/.test(header));
  if (wrong !== undefined) throw new UsageError(`--header "${wrong}": write it as 'name: value'`);
  const fields = Object.fromEntries(headers.map((header) => fieldOf(header)));
  const content = body?.startsWith("@") ? read("--body", fromCaller(body.slice(1))) : body;
  return Object.fromEntries(
    endpoints.map((endpoint) => {
      const { status, ...request } = requestOf(endpoint);
      const sends = content !== undefined && request.method !== "GET";
      const all = { ...(sends && JSON_TYPE), ...request.headers, ...fields };
      return [endpoint, { ...request, headers: all, ...(sends && { body: content }) }];
    }),
  );
}

/**
 * @param file HAR (HTTP Archive 1.2, what browsers export), or requests as editors send them (.http, .rest): separated by
 *   `###`, with `@name = value` for `{{name}}`, `< file` for a body and `?? status == 201` for what is expected
 * @throws UsageError
 */
export function readRequests(file: string): Requests {
  const text = read("--requests", file);
  const requests = extname(file) === ".har" ? ofHar(text, file) : ofHttp(text, file);
  if (requests.length === 0) throw new UsageError(`--requests "${file}" has no request: write one as GET /path`);
  // Generators open a new connection after any other answer, and would load that.
  const other = requests.find(({ status = 200 }) => status < 200 || status > 299);
  if (other)
    throw new UsageError(`--requests "${file}": ${nameOf(other)} expects ${other.status}: only 2xx can be loaded`);
  return named(requests);
}

function ofHttp(text: string, file: string): Request[] {
  const variables = new Map<string, string>();
  return text.split(/^###.*$/m).flatMap((part): Request[] => {
    const lines = part.split(/\r?\n/).filter((line) => !/^(#|\/\/)/.test(line));
    const request = lines.filter((line) => {
      const [, name, value = ""] = /^@(\w+)\s*=\s*(.*)$/.exec(line) ?? [];
      if (name) variables.set(name, value.trim());
      return name === undefined && !line.startsWith("?? ");
    });
    const expected = /^\?\? status ==? (\d{3})\s*$/m.exec(part)?.[1];
    const filled = request.map((line) => line.replace(/{{\s*(\w+)\s*}}/g, (all, name) => variables.get(name) ?? all));
    const first = filled.findIndex((line) => line.trim() !== "");
    if (first === -1) return [];
    const [, method = "GET", url = ""] =
      /^(?:([A-Z]+)\s+)?(\S+)(?:\s+HTTP\/\S+)?\s*$/.exec(filled[first] as string) ?? [];
    const blank = filled.findIndex((line, i) => i > first && line.trim() === "");
    const end = blank === -1 ? filled.length : blank;
    const body = filled
      .slice(end + 1)
      .join("\n")
      .trim();
    const [, included] = /^<\s+(\S.*)$/.exec(body) ?? [];
    const content = included ? read("--requests", resolve(dirname(file), included)) : body;
    return [
      {
        method,
        path: pathOf(url, file),
        headers: Object.fromEntries(filled.slice(first + 1, end).map(fieldOf)),
        ...(content && { body: content }),
        ...(expected && { status: Number(expected) }),
      },
    ];
  });
}

interface Har {
  readonly log?: {
    readonly entries?: readonly {
      readonly request: {
        readonly method: string;
        readonly url: string;
        readonly headers: readonly { name: string; value: string }[];
        readonly postData?: { readonly text?: string };
      };
      readonly response: { readonly status: number };
    }[];
  };
}

/** What a client sets itself, for its own connection. */
const OF_CONNECTION = /^(:.*|host|connection|content-length|transfer-encoding|accept-encoding)$/i;

/** The requests to the origin of the first. */
function ofHar(text: string, file: string): Request[] {
  let har: Har;
  try {
    har = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--requests "${file}" is no HAR: ${(error as Error).message}`);
  }
  const entries = har.log?.entries ?? [];
  const origin = URL.parse(entries[0]?.request.url ?? "")?.origin;
  return entries.flatMap(({ request: { method, url, headers, postData }, response: { status } }) =>
    URL.parse(url)?.origin !== origin
      ? []
      : [
          {
            method,
            path: pathOf(url, file),
            headers: Object.fromEntries(
              headers.flatMap(({ name, value }) => (OF_CONNECTION.test(name) ? [] : [[name.toLowerCase(), value]])),
            ),
            ...(postData?.text && { body: postData.text }),
            status,
          },
        ],
  );
}

/** Requests go to the servers that are measured, whatever host they name. */
function pathOf(url: string, file: string): string {
  const parsed = URL.parse(url.replace(/^{{\w+}}/, ""), "http://localhost");
  if (parsed) return parsed.pathname + parsed.search;
  throw new UsageError(`--requests "${file}" has "${url}": write a request as GET /path`);
}

function fieldOf(line: string): [string, string] {
  const [name = "", value = ""] = line.split(/:(.*)/s);
  return [name.trim().toLowerCase(), value.trim()];
}

function read(option: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`${option} "${file}" cannot be read (${(error as Error).message})`);
  }
}
