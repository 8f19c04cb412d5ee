import { once } from "node:events";
import { createServer, type Server } from "node:net";

// Below the ports that systems give to outgoing connections (32768 on Linux, 49152 elsewhere), one of which would else
// take the port before its server does.
const FIRST = 10_000;
const BLOCK = 100;
const BLOCKS = 200;

/** @returns a listener, or null if the port is taken */
async function listen(port: number): Promise<Server | null> {
  const server = createServer();
  try {
    await once(server.listen(port, "127.0.0.1"), "listening");
    return server;
  } catch {
    return null;
  }
}

let block: Promise<number> | undefined;
let given = 0;

/** Listens at the first port of a block as long as this process runs, so that no other process takes this block. */
async function reserve(): Promise<number> {
  const start = Math.floor(Math.random() * BLOCKS);
  for (let i = 0; i < BLOCKS; i++) {
    const first = FIRST + ((start + i) % BLOCKS) * BLOCK;
    const server = await listen(first);
    if (server) {
      server.unref();
      return first;
    }
  }
  throw new Error(`no port is free from ${FIRST} to ${FIRST + BLOCKS * BLOCK - 1}`);
}

/** @returns a port of this machine where nothing listens; no other process gets the same one from here, nor this one soon again. */
export async function freePort(): Promise<number> {
  block ??= reserve();
  const first = await block;
  for (let i = 1; i < BLOCK; i++) {
    const port = first + 1 + (given++ % (BLOCK - 1));
    const server = await listen(port);
    if (!server) continue;
    server.close();
    await once(server, "close");
    return port;
  }
  throw new Error(`no port is free from ${first} to ${first + BLOCK - 1}`);
}
