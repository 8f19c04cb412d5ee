/** HTTP as it is on the wire: fetch hides some headers. */
import { connect, type Socket } from "node:net";

/** Headers of every answer that has a body, and why a runtime adds to them. */
const HEADERS = ["content-length", "content-type", "date"];
const ADDED: Record<string, { headers: string[]; reason: string }> = {
  "node:http": {
    headers: ["connection", "keep-alive"],
    reason: "node:http names its idle timeout to HTTP/1.1 clients",
  },
  "Bun.serve": { headers: [], reason: "" },
};
const httpOf = (server: string) => (["bun-raw", "bun-hono", "bun-elysia"].includes(server) ? "Bun.serve" : "node:http");

/** The names of an answer's headers, sorted, as they are to be. */
export const headersOf = (server: string, status = 200) =>
  [...(status === 204 ? ["date"] : HEADERS), ...(ADDED[httpOf(server)]?.headers ?? [])].sort();

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
          const length = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1] ?? 0);
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
