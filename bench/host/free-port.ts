import { once } from "node:events";
import { createServer } from "node:net";

// Below the ports that systems use for outgoing connections (from 32768 on), because such a
// connection could take the port before its server does.
const FIRST = 10_000;
const PORTS = 20_000;

/** Processes begin a hundred ports apart, so that two that run at once do not take the same ones. */
let next = process.pid * 100;

/** Whether nothing listens on a port of 127.0.0.1. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}

/** @returns a port of this machine where nothing listens; the next calls return other ports. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS; tries++) {
    const port = FIRST + (next++ % PORTS);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port is free from ${FIRST} to ${FIRST + PORTS - 1}`);
}
