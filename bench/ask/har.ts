/** Requests as browsers record them (HTTP Archive 1.2). */
import type { Entry, Har, PostData } from "har-format";
import { UsageError } from "../../shared/errors.ts";
import type { Request } from "../load/request.ts";

/** What a client sets itself, for its own connection, or what would be answered with 304. */
export const OF_CONNECTION =
  /^(:.*|host|connection|content-length|transfer-encoding|accept-encoding|expect|upgrade|if-(none-match|modified-since|match|unmodified-since|range))$/i;

/** @returns the requests to the origin that most entries have, and a line that says what is left out. @throws UsageError */
export function readHar(text: string, file: string): { requests: Request[]; notes: string[] } {
  const entries = entriesOf(text, file).filter(({ request }) => typeof request?.url === "string");
  const origins = Map.groupBy(entries, ({ request }) => URL.parse(request.url)?.origin ?? "");
  const [origin] = [...origins].sort(([, a], [, b]) => b.length - a.length)[0] ?? [];
  const left = new Map<string, number>();
  const requests = entries.flatMap((entry) => {
    const why = reasonAgainst(entry, origin);
    if (why === null) return [requestOf(entry)];
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

/** @returns why an entry cannot be loaded; null if it can */
function reasonAgainst({ request, response }: Entry, origin: string | undefined): string | null {
  const status = response?.status;
  const url = URL.parse(request.url);
  if (/^wss?:$/.test(url?.protocol ?? "") || status === 101) return "WebSocket";
  if (url?.origin !== origin) return "to other origins";
  if (status === undefined || (status >= 200 && status <= 299)) return null;
  if (status === 304) return "answered from the cache (304)";
  if (status >= 300 && status <= 399) return "redirect";
  return status >= 400 ? `failed (${status})` : "blocked";
}

/** Any 2xx will do: another one may have been recorded elsewhere. */
function requestOf({ request: { method, url, headers, postData } }: Entry): Request {
  const { pathname, search } = new URL(url);
  const own = (headers ?? []).flatMap(({ name, value }) =>
    OF_CONNECTION.test(name) ? [] : [[name.toLowerCase(), value ?? ""] as const],
  );
  const type = postData?.mimeType;
  return {
    method: (method ?? "GET").toUpperCase(),
    path: pathname + search,
    headers: { ...(type && { "content-type": type }), ...Object.fromEntries(own) },
    ...bodyOf(postData),
  };
}

/** A form's fields are the body of a request that has no text. */
function bodyOf(data?: PostData | null): Pick<Request, "body" | "base64"> {
  // Not in HAR 1.2, but recorders that keep what is no text write it as browsers do for answers.
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
