import type { Server } from "node:http";
import { Server as NetServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Address, Running } from "./contract.ts";

/** Long enough for the event loop to read every request that had arrived when it was told to stop. */
const READ_MS = 100;

/** Lets an http.Server listen, whichever framework made it. */
export function listen(server: Server, { host, port, reusePort }: Address): Promise<Running> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, reusePort }, () => resolve({ close: () => closeHttpServer(server) }));
  });
}

/** Stops accepting, answers what was sent, then closes the connections. */
export async function closeHttpServer(server: Server): Promise<void> {
  if (process.versions.bun) {
    await sleep(READ_MS);
    return new Promise((resolve) => server.close(() => resolve()));
  }
  server.prependListener("request", (_, response) => response.setHeader("connection", "close"));
  // http.Server's own close() cuts connections at once whose request has arrived but is not read yet.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  const sweep = setInterval(() => server.closeIdleConnections(), READ_MS);
  await closed;
  clearInterval(sweep);
}

/** The same for Bun.serve, which has no way to stop accepting without cutting connections: it accepts a little longer. */
export async function closeBunServer(server: { stop(): Promise<void> }): Promise<void> {
  await sleep(READ_MS);
  await server.stop();
}
