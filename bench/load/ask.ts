/** One request, by the same rules as the load that follows: same headers and body, no redirect followed, no proxy. */
import { request as overHttp } from "node:http";
import { request as overHttps } from "node:https";
import { connect, type Socket } from "node:net";
import { connect as connectByTls } from "node:tls";
import { UsageError } from "../../shared/errors.ts";
import { type Asked, bytesOf, headersOf } from "./request.ts";
import { hiddenText } from "./secrets.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** From the send to the last byte. */
  readonly ms: number;
  /** See {@link AnswersSeen}. */
  readonly isUnusual?: boolean;
}

const ANSWER_MS = 30_000;

/** OpenSSL's names for a certificate that is not trusted. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/;

/** Error codes of Node and OpenSSL for an answer that is not HTTP/1.1. */
export const NOT_HTTP = /^HPE_|NO_APPLICATION_PROTOCOL/;
/** Error code for an answer that began in time but did not end. */
export const ENDLESS = "ENDLESS";

/** Encodes headers as UTF-8, as a generator does, because Node writes each character as one byte. */
const asBytes = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString("latin1")]));

/** @throws UsageError that names the request, and the remedy */
export const ask = (asked: Asked, signal: AbortSignal): Promise<Answer> => within(asked, signal, send);

/**
 * Sends a request on a connection of its own, which stays open.
 * @returns the connection, when its answer has begun. @throws UsageError that names the request, and the remedy
 */
export const openConnection = (asked: Asked, signal: AbortSignal): Promise<Socket> => within(asked, signal, connectTo);

/** Whether an answer has begun. */
interface Seen {
  hasBegun: boolean;
}

/** Waits for an answer at most ANSWER_MS. @throws UsageError that names the request, and the remedy */
async function within<T>(
  asked: Asked,
  signal: AbortSignal,
  wait: (asked: Asked, limit: AbortSignal, seen: Seen) => Promise<T>,
): Promise<T> {
  const { method = "GET" } = asked;
  const url = hiddenText(asked.url);
  const seen = { hasBegun: false };
  try {
    return await wait(asked, AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]), seen);
  } catch (error) {
    signal.throwIfAborted();
    const { code, message, name } = error as { code?: string; message: string; name: string };
    const what = method === "GET" ? url : `${method} ${url}`;
    if (name === "TimeoutError" && seen.hasBegun)
      throw new UsageError(`${what} does not end its answer within ${ANSWER_MS / 1e3} s, like a stream: leave it out`, {
        cause: { code: ENDLESS },
      });
    if (name === "TimeoutError")
      throw new UsageError(`${what} is not answered within ${ANSWER_MS / 1e3} s: leave it out, or make it faster`);
    if (CERTIFICATE.test(code ?? ""))
      throw new UsageError(`${url} has a certificate that is not trusted here (${code}): give --insecure`);
    if (NOT_HTTP.test(code ?? ""))
      throw new UsageError(`${what} is not answered in HTTP/1.1 (${code}): let the server speak it`, { cause: error });
    if (code === "ECONNRESET")
      throw new UsageError(`${what} is not answered, the server closes the connection (${code}): see what it prints`, {
        cause: error,
      });
    throw new UsageError(`${what} cannot be reached (${code ?? message}): start the server, or fix the address`, {
      cause: error,
    });
  }
}

/** URLs have brackets around an IPv6 address, connections do not. */
const withoutBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, "");

const closed = () => Object.assign(new Error("the connection is closed"), { code: "ECONNRESET" });

function send(asked: Asked, limit: AbortSignal, seen: Seen): Promise<Answer> {
  const { url, method = "GET", insecure } = asked;
  const { protocol, hostname, port, pathname, search } = new URL(url);
  const body = bytesOf(asked);
  const since = performance.now();
  let isInformed = false;
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(limit.aborted ? limit.reason : error);
    const options = {
      method,
      hostname: withoutBrackets(hostname),
      port,
      path: pathname + search,
      headers: { ...asBytes(headersOf(asked)), ...(body && { "content-length": body.length }) },
      maxHeaderSize: 2 ** 20,
      rejectUnauthorized: !insecure,
      signal: limit,
    };
    const request = (protocol === "https:" ? overHttps : overHttp)(options, (response) => {
      seen.hasBegun = true;
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("error", fail);
      response.on("close", () => fail(closed()));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          isUnusual:
            isInformed ||
            method === "HEAD" ||
            response.statusCode === 204 ||
            response.statusCode === 205 ||
            Object.keys(response.trailers).length > 0,
          headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
          body: Buffer.concat(parts),
          ms: performance.now() - since,
        }),
      );
    });
    // Such as 103 Early Hints; 100 Continue has an event of its own.
    for (const event of ["information", "continue"]) request.on(event, () => (isInformed = true));
    // No load can follow: the connection now speaks another protocol.
    request.on("upgrade", ({ statusCode: status = 0 }, socket) => {
      socket.destroy();
      resolve({ status, headers: {}, body: Buffer.alloc(0), ms: performance.now() - since });
    });
    request.on("error", fail);
    request.on("close", () => seen.hasBegun || fail(closed()));
    request.end(body);
  });
}

function connectTo(asked: Asked, limit: AbortSignal, seen: Seen): Promise<Socket> {
  const { url, method = "GET", insecure } = asked;
  const { protocol, hostname, port, host, pathname, search } = new URL(url);
  const isTls = protocol === "https:";
  const body = bytesOf(asked) ?? Buffer.alloc(0);
  const fields = { host, ...headersOf(asked), ...(asked.body !== undefined && { "content-length": body.length }) };
  const lines = [
    `${method} ${pathname}${search} HTTP/1.1`,
    ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`),
  ];
  const at = { host: withoutBrackets(hostname), port: Number(port) || (isTls ? 443 : 80) };
  return new Promise((resolve, reject) => {
    const socket = isTls ? connectByTls({ ...at, servername: at.host, rejectUnauthorized: !insecure }) : connect(at);
    const fail = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    const isLate = () => fail(limit.reason);
    limit.addEventListener("abort", isLate);
    if (limit.aborted) isLate();
    socket.once(isTls ? "secureConnect" : "connect", () =>
      socket.write(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), body])),
    );
    socket.once("data", () => {
      seen.hasBegun = true;
      limit.removeEventListener("abort", isLate);
      resolve(socket.resume());
    });
    socket.on("error", fail);
    socket.once("close", () => fail(closed()));
  });
}
