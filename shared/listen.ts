import type { Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Address, Running } from "./contract.ts";

/** Long enough for the event loop to read the requests that arrived before the stop. */
const READ_MS = 100;

export function listen(server: Server, { host, port, reusePort }: Address): Promise<Running> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, reusePort }, () => resolve({ close: () => closeHttpServer(server) }));
  });
}

/** @returns path and query of `url`, because a request line may contain the whole URL (RFC 9112, 3.2.2). */
export function originForm(url: string): string {
  if (url.startsWith("/") || !URL.canParse(url)) return url;
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** Stops accepting, answers every request that has arrived, then closes the connections. */
export async function closeHttpServer(server: Server): Promise<void> {
  if (process.versions.bun) await sleep(READ_MS);
  server.prependListener("request", (_, response) => response.setHeader("connection", "close"));
  const sweep = setInterval(() => server.closeIdleConnections(), READ_MS); // connections that went idle after close()
  await new Promise((resolve) => server.close(resolve));
  clearInterval(sweep);
}

/** Bun.serve, unlike Node, cuts connections with an unread request, so the server accepts requests for READ_MS more. */
export async function closeBunServer(server: { stop(): Promise<void> }): Promise<void> {
  await sleep(READ_MS);
  await server.stop();
}
