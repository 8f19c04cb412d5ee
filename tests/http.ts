/** Raw HTTP over a socket, because fetch hides some headers. */
import { connect, type Socket } from "node:net";
import { STACKS } from "../bench/ask/targets.ts";

/** Headers of every answer, and those that a runtime or stack adds. */
const HEADERS = ["content-length", "content-type", "date"];
const ADDED: Record<string, { headers: string[]; reason: string }> = {
  "node:http": {
    headers: ["connection", "keep-alive"],
    reason: "node:http sends its idle timeout to HTTP/1.1 clients",
  },
  "Bun.serve": { headers: [], reason: "" },
  "python-flask-bjoern": {
    headers: ["connection"],
    reason: "bjoern tells every client whether it keeps the connection",
  },
  "python-flask-granian": { headers: ["server"], reason: "granian has no option to leave it out" },
  "node-next": {
    headers: ["connection", "keep-alive", "transfer-encoding", "vary"],
    reason: "Next.js sends the answers of route handlers in chunks, and a vary header for the pages of its router",
  },
  "node-remix": { headers: ["connection", "keep-alive"], reason: "as node:http" },
};
const httpOf = (server: string) => {
  if (STACKS[server]) return server;
  return ["bun-raw", "bun-hono", "bun-elysia"].includes(server) ? "Bun.serve" : "node:http";
};

/** Headers that are left out, by framework, status, or both. */
const LEFT_OUT: Record<string, { headers: string[]; reason: string }> = {
  "fastify 400": { headers: ["keep-alive"], reason: "Fastify closes the connection after a body that it cannot read" },
  next: { headers: ["content-length"], reason: "Next.js drops the content-length that a route handler sets" },
  204: { headers: ["content-length", "content-type", "transfer-encoding"], reason: "there is no body" },
};

/** The expected header names, sorted. A 400 means one for a wrong body. */
export function headersOf(server: string, status = 200): string[] {
  const framework = server.slice(server.indexOf("-") + 1);
  const leftOut = [status, framework, `${framework} ${status}`].flatMap((answer) => LEFT_OUT[answer]?.headers ?? []);
  return [...HEADERS, ...(ADDED[httpOf(server)]?.headers ?? [])].filter((name) => !leftOut.includes(name)).sort();
}

export const mediaType = (response: Response) => response.headers.get("content-type")?.split(";")[0];

/** @returns the status, then the header names, sorted. */
export async function rawHeaders(
  port: number,
  path: string,
  method?: string,
  body?: string,
): Promise<[number, ...string[]]> {
  const client = await openClient(port);
  const answer = await client.ask(path, method, body);
  client.socket.destroy();
  const [status = "", ...lines] = (answer.split("\r\n\r\n")[0] as string).split("\r\n");
  return [Number(status.split(" ")[1]), ...lines.map((line) => line.slice(0, line.indexOf(":")).toLowerCase()).sort()];
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
