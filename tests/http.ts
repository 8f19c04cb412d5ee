/** HTTP as it is on the wire: fetch hides some headers. */
import { connect, type Socket } from "node:net";
import { STACKS } from "../bench/plan/targets.ts";

/** Headers of every answer, and why a runtime, or a server in another language, adds to them. */
const HEADERS = ["content-length", "content-type", "date"];
const ADDED: Record<string, { headers: string[]; reason: string }> = {
  "node:http": {
    headers: ["connection", "keep-alive"],
    reason: "node:http names its idle timeout to HTTP/1.1 clients",
  },
  "Bun.serve": { headers: [], reason: "" },
};
const httpOf = (server: string) => {
  if (STACKS[server]) return server;
  return ["bun-raw", "bun-hono", "bun-elysia"].includes(server) ? "Bun.serve" : "node:http";
};

/** What is not there, by framework and answer. */
const LEFT_OUT: Record<string, { headers: string[]; reason: string }> = {
  "fastify 400": { headers: ["keep-alive"], reason: "it closes the connection after a body that it cannot read" },
  204: { headers: ["content-length", "content-type"], reason: "there is no body" },
};

/** The names of an answer's headers, sorted, as they are to be; a 400 is one of the body. */
export function headersOf(server: string, status = 200): string[] {
  const framework = server.slice(server.indexOf("-") + 1);
  const leftOut = [status, `${framework} ${status}`].flatMap((answer) => LEFT_OUT[answer]?.headers ?? []);
  return [...HEADERS, ...(ADDED[httpOf(server)]?.headers ?? [])].filter((name) => !leftOut.includes(name)).sort();
}

export const mediaType = (response: Response) => response.headers.get("content-type")?.split(";")[0];

/** @returns the status of an answer, and the names of its headers, sorted. */
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

/** A keep-alive connection that asks one thing at a time. */
export function openClient(
  port: number,
): Promise<{ socket: Socket; ask(path: string, method?: string, body?: string): Promise<string> }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve({ socket, ask }));
    socket.setEncoding("latin1").once("error", reject);
    const ask = (path: string, method = "GET", json?: string) =>
      new Promise<string>((answered, failed) => {
        let text = "";
        const onData = (part: string) => {
          text += part;
          const body = text.indexOf("\r\n\r\n") + 4;
          const length = method === "HEAD" ? 0 : Number(/\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1] ?? 0);
          if (body > 3 && text.length - body >= length) {
            socket.off("data", onData).off("close", onClose);
            answered(text);
          }
        };
        const onClose = () => failed(new Error(`${path}: closed after ${text.length} bytes`));
        socket.on("data", onData).once("close", onClose);
        const head = json && `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n`;
        socket.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${head ?? ""}\r\n${json ?? ""}`);
      });
  });
}
