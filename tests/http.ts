/** HTTP over a socket, because fetch hides some headers. */
import { expect } from "bun:test";
import { connect, type Socket } from "node:net";
import type { Strictness } from "./strictness.ts";

/** Headers of every answer, and those that a runtime adds to them. */
const HEADERS = ["content-length", "content-type", "date"];
/** node:http sends its idle timeout to HTTP/1.1 clients. */
const OF_NODE = ["connection", "keep-alive"];
const ON_BUN_SERVE = ["bun-raw", "bun-hono", "bun-elysia"];
/** Headers that servers in other languages may send: no ETag, no X-Powered-By, no cookies. */
const ALLOWED = [...HEADERS, ...OF_NODE, "server", "transfer-encoding", "vary"];

/** Missing headers, by status, by framework, or by framework and status of an answer to a body. */
const LEFT_OUT: Record<string, { headers: string[]; reason: string }> = {
  204: { headers: ["content-length", "content-type"], reason: "there is no body" },
  next: { headers: ["content-length"], reason: "it drops the one that a route handler sets" },
  "fastify 400": { headers: ["keep-alive"], reason: "it closes the connection after a body that it cannot read" },
};

export type Exchange = readonly [status: number, method: string, path: string, body?: string];

/** Expects the status of an answer, and the names of its headers. */
export async function expectHeaders(
  { exact }: Strictness,
  { name, port }: { readonly name: string; readonly port: number },
  [status, method, path, body]: Exchange,
): Promise<void> {
  const client = await openClient(port);
  const answer = await client.ask(path, method, body);
  client.socket.destroy();
  const [head = "", ...lines] = (answer.split("\r\n\r\n")[0] as string).split("\r\n");
  const names = lines.map((line) => line.slice(0, line.indexOf(":")).toLowerCase()).sort();
  const framework = name.slice(name.indexOf("-") + 1);
  const leftOut = [status, framework, body && `${framework} ${status}`].flatMap(
    (key = "") => LEFT_OUT[key]?.headers ?? [],
  );
  const isSent = (header: string) => !leftOut.includes(header);
  const asked = [method, path, Number(head.split(" ")[1])];
  if (exact) {
    const all = ON_BUN_SERVE.includes(name) ? HEADERS : [...HEADERS, ...OF_NODE];
    expect([...asked, ...names]).toEqual([method, path, status, ...all.filter(isSent).sort()]);
  } else {
    const required = ["content-length", "content-type"].filter(isSent);
    expect([...asked, ...names]).toEqual(expect.arrayContaining([method, path, status, ...required]));
    expect([...asked, ...names.filter((header) => !ALLOWED.includes(header))]).toEqual([method, path, status]);
  }
}

export const mediaType = (response: Response) => response.headers.get("content-type")?.split(";")[0];

export interface Answer {
  /** 0 if there is no answer in time. */
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | null;
}

/** @param withinMs how long it may take */
export async function answerOf(url: string, withinMs: number, init?: RequestInit): Promise<Answer> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(withinMs) });
    return { status: response.status, text: await response.text(), retryAfter: response.headers.get("retry-after") };
  } catch (error) {
    return { status: 0, text: String(error), retryAfter: null }; // also if a server is killed between headers and body
  }
}

/** A keep-alive connection that sends one request at a time. */
export function openClient(
  port: number,
): Promise<{ socket: Socket; ask(path: string, method?: string, body?: string): Promise<string> }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve({ socket, ask }));
    let why = "";
    socket.setEncoding("latin1").on("error", (error) => {
      why = ` (${error.message})`;
      reject(error);
    });
    const ask = (path: string, method = "GET", json?: string) =>
      new Promise<string>((answered, failed) => {
        if (socket.closed) return failed(new Error(`${path}: the connection closed before this request${why}`));
        let text = "";
        const onData = (part: string) => {
          text += part;
          const body = text.indexOf("\r\n\r\n") + 4;
          const hasBody = method !== "HEAD";
          const length = hasBody ? Number(/\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1] ?? 0) : 0;
          const inChunks = hasBody && /\r\ntransfer-encoding: chunked\r\n/i.test(text.slice(0, body));
          if (body > 3 && (inChunks ? text.endsWith("\r\n0\r\n\r\n") : text.length - body >= length)) {
            socket.off("data", onData).off("close", onClose);
            answered(inChunks ? joinChunks(text, body) : text);
          }
        };
        const onClose = () => failed(new Error(`${path}: the connection closed after ${text.length} bytes${why}`));
        socket.on("data", onData).once("close", onClose);
        const head = json && `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n`;
        socket.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${head ?? ""}\r\n${json ?? ""}`);
      });
  });
}

/** @param body offset of the body @returns the answer without chunk sizes */
function joinChunks(answer: string, body: number): string {
  let joined = answer.slice(0, body);
  for (let at = body; ; ) {
    const chunk = answer.indexOf("\r\n", at) + 2;
    const size = Number.parseInt(answer.slice(at, chunk), 16);
    if (size === 0) return joined;
    joined += answer.slice(chunk, chunk + size);
    at = chunk + size + 2;
  }
}
