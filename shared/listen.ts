import type { Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Address, Running } from "./contract.ts";

/** Long enough for the event loop to read what had arrived when it was told to stop. */
const READ_MS = 100;

/** Lets an http.Server listen, whichever framework made it. */
export function listen(server: Server, { host, port, reusePort }: Address): Promise<Running> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, reusePort }, () => resolve({ close: () => closeHttpServer(server) }));
  });
}

/** @returns path and query of what a request line asks for: it may name the whole URL (RFC 9112, 3.2.2). */
export function originForm(url: string): string {
  if (url.startsWith("/") || !URL.canParse(url)) return url;
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** Stops accepting, answers every request that had arrived, then closes the connections. */
export async function closeHttpServer(server: Server): Promise<void> {
  if (process.versions.bun) await sleep(READ_MS);
  server.prependListener("request", (_, response) => response.setHeader("connection", "close"));
  const sweep = setInterval(() => server.closeIdleConnections(), READ_MS); // those that went idle since close()
  await new Promise((resolve) => server.close(resolve));
  clearInterval(sweep);
}

/** The same for Bun.serve. Bun, unlike Node, cuts connections whose request it has not read: so it accepts a little longer. */
export async function closeBunServer(server: { stop(): Promise<void> }): Promise<void> {
  await sleep(READ_MS);
  await server.stop();
}
