/** Requests as browsers record them (HTTP Archive 1.2). */
import type { Entry, Har, Header, PostData } from "har-format";
import { UsageError } from "../../shared/errors.ts";
import type { Request } from "../load/request.ts";

/** Headers to leave out: a client sets them for its own connection, or the answer to them would be 304. */
export const OF_CONNECTION =
  /^(:.*|host|connection|keep-alive|proxy-connection|http2-settings|te|content-length|transfer-encoding|expect|upgrade|if-(none-match|modified-since|match|unmodified-since|range))$/i;

/** @returns one value for several fields of the same name, because HTTP/2 splits cookies. */
export const joined = (name: string, values: readonly unknown[]): string =>
  values.join(/^cookie$/i.test(name) ? "; " : ", ");

/** @returns the requests to the origin of most pages (without pages: of most entries), and a note of what is left out. @throws UsageError */
export function readHar(
  text: string,
  { file, headers = {} }: { readonly file: string; readonly headers?: Request["headers"] | undefined },
): { requests: Request[]; notes: string[] } {
  const entries = entriesOf(text, file).filter(({ request }) => typeof request?.url === "string");
  const pages = entries.filter(({ request, response }) => /html/.test(typeOf(response)) && originOf(request) !== null);
  const origins = Map.groupBy(pages.length > 0 ? pages : entries, ({ request }) => originOf(request));
  origins.delete(null);
  const [origin = null] = [...origins].sort(([, a], [, b]) => b.length - a.length)[0] ?? [];
  const left = new Map<string, number>();
  const requests = entries.flatMap((entry) => {
    const why = reasonAgainst(entry, origin);
    if (why === null) {
      const request = requestOf(entry);
      return [{ ...request, headers: { ...request.headers, ...headers } }];
    }
    left.set(why, (left.get(why) ?? 0) + 1);
    return [];
  });
  const out = [...left].map(([why, n]) => `${n} ${why}`).join(", ");
  return { requests, notes: out === "" ? [] : [`${file}: left out: ${out}`] };
}

function entriesOf(text: string, file: string): Entry[] {
  let har: Partial<Har> | null;
  try {
    har = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new UsageError(`--requests "${file}" is no HAR: ${(error as Error).message}`);
  }
  const entries = har?.log?.entries;
  if (Array.isArray(entries)) return entries.filter((entry) => entry !== null && typeof entry === "object");
  throw new UsageError(`--requests "${file}" is no HAR: it has no list log.entries; export it from a browser again`);
}

const typeOf = (response?: Partial<Entry["response"]>): string => response?.content?.mimeType ?? "";

/** @returns null for a URL that needs no server, like `data:`, and for text that is no URL */
const originOf = ({ url }: Entry["request"]): string | null => {
  const { protocol = "", origin = null } = URL.parse(url) ?? {};
  return /^https?:$/.test(protocol) ? origin : null;
};

/** @returns why an entry cannot be loaded; null if it can */
function reasonAgainst({ request, response }: Entry, origin: string | null): string | null {
  const status = response?.status;
  const url = URL.parse(request.url);
  if (/^wss?:$/.test(url?.protocol ?? "") || status === 101) return "WebSocket";
  if (request.method === "CONNECT") return "CONNECT";
  if (originOf(request) === null) return "without a host";
  if (url?.origin !== origin) return `to other origins than ${origin}`;
  if (typeOf(response).startsWith("text/event-stream")) return "event stream";
  if (status === undefined || (status >= 200 && status <= 299)) return null;
  if (status === 304) return "answered from the cache (304)";
  if (status >= 300 && status <= 399) return "redirect";
  return status >= 400 ? `failed (${status})` : "blocked";
}

/** Expects any 2xx, because the recorded server may have answered with another 2xx. */
function requestOf({ request: { method, url, headers, cookies, postData } }: Entry): Request {
  const { pathname, search } = new URL(url);
  const own = fieldsOf((headers ?? []).filter((header) => header?.name && !OF_CONNECTION.test(header.name)));
  const pairs = (cookies ?? []).map(({ name, value }) => `${name}=${value}`);
  const data = withBoundary(postData);
  const type = data?.mimeType;
  return {
    method: (method ?? "GET").toUpperCase(),
    path: pathname + search,
    headers: {
      ...(pairs.length > 0 && { cookie: joined("cookie", pairs) }),
      ...(type && { "content-type": type }),
      ...own,
      ...(data !== postData && type && { "content-type": type }),
    },
    ...bodyOf(data),
  };
}

export function fieldsOf(headers: readonly Header[]): Record<string, string> {
  const fields = Map.groupBy(headers, ({ name }) => name.toLowerCase());
  return Object.fromEntries(
    [...fields].map(([name, all]) => [
      name,
      joined(
        name,
        all.map(({ value }) => value ?? ""),
      ),
    ]),
  );
}

/** Adds the boundary of a multipart form if the recorder left it out. */
const withBoundary = (data?: PostData | null): PostData | null | undefined =>
  data?.params?.length && !data.text && /^multipart\/form-data\s*$/.test(data.mimeType)
    ? { ...data, mimeType: "multipart/form-data; boundary=part" }
    : data;

/** @returns the recorded text, or if there is none, a body made of the form's fields. */
function bodyOf(data?: PostData | null): Pick<Request, "body" | "base64"> {
  // HAR 1.2 has no `encoding` for requests, but recorders write it for binary bodies, as browsers do for answers.
  const { encoding } = (data ?? {}) as { encoding?: string };
  if (data?.text) return { body: data.text, ...(encoding === "base64" && { base64: true }) };
  if (!data?.params?.length) return {};
  const boundary = /boundary="?([^";]+)/.exec(data.mimeType)?.[1];
  if (boundary === undefined)
    return { body: String(new URLSearchParams(data.params.map(({ name, value }) => [name, value ?? ""]))) };
  const parts = data.params.map(({ name, value, fileName, contentType }) => {
    const file = fileName ? `; filename="${fileName}"` : "";
    const type = contentType ? `Content-Type: ${contentType}\r\n` : "";
    return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${type}\r\n${value ?? ""}\r\n`;
  });
  return { body: `${parts.join("")}--${boundary}--\r\n` };
}
