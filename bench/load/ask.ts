/** One request, by the same rules as the load that follows: same headers and body, no redirect followed, no proxy. */
import { request as overHttp } from "node:http";
import { request as overHttps } from "node:https";
import { UsageError } from "../../shared/errors.ts";
import { type Asked, bytesOf, headersOf } from "./request.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** From the send to the last byte. */
  readonly ms: number;
}

const ANSWER_MS = 30_000;

/** OpenSSL's names for a certificate that is not trusted. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/;

/** @throws UsageError that names the request, and the remedy */
export async function ask(asked: Asked, signal: AbortSignal): Promise<Answer> {
  const { url, method = "GET" } = asked;
  try {
    return await send(asked, signal);
  } catch (error) {
    signal.throwIfAborted();
    const { code, message, name } = error as { code?: string; message: string; name: string };
    const what = method === "GET" ? url : `${method} ${url}`;
    if (name === "TimeoutError")
      throw new UsageError(`${what} is not answered within ${ANSWER_MS / 1e3} s: leave it out, or make it faster`);
    if (CERTIFICATE.test(code ?? ""))
      throw new UsageError(`${url} has a certificate that is not trusted here (${code}): give --insecure`);
    throw new UsageError(`${what} cannot be reached (${code ?? message}): start the server, or fix the address`);
  }
}

function send(asked: Asked, signal: AbortSignal): Promise<Answer> {
  const { url, method = "GET", insecure } = asked;
  const { protocol, hostname, port, pathname, search } = new URL(url);
  const body = bytesOf(asked);
  const since = performance.now();
  return new Promise((resolve, reject) => {
    const options = {
      method,
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port,
      path: pathname + search,
      headers: { ...headersOf(asked), ...(body && { "content-length": body.length }) },
      maxHeaderSize: 2 ** 20,
      rejectUnauthorized: !insecure,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    };
    const request = (protocol === "https:" ? overHttps : overHttp)(options, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("error", reject);
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
          body: Buffer.concat(parts),
          ms: performance.now() - since,
        }),
      );
    });
    request.on("error", (error) => reject(options.signal.aborted ? options.signal.reason : error));
    request.end(body);
  });
}
