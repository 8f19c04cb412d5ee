import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { UsageError } from "../../shared/errors.ts";
import { pinned } from "../cores.ts";
import type { LocalSpec } from "../plan.ts";
import { readIdentity, type Target } from "./target.ts";

/** How long a server may take until it answers. */
const READY_MS = 20_000;
/** How long it may take to end; the contract gives it 5 s. */
const STOP_MS = 6_000;

/** Starts a server on a free port of this machine and waits until it answers. */
export async function start(spec: LocalSpec, cores: string | undefined, signal: AbortSignal): Promise<Target> {
  const port = await freePort();
  const [command, ...args] = pinned(cores, spec.command);
  const since = performance.now();
  const child = spawn(command, args, {
    env: { ...process.env, ...spec.env, HOST: "127.0.0.1", PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-2_000);
  });
  const ended = once(child, "close");
  const stop = async () => {
    child.kill("SIGTERM");
    if ((await Promise.race([ended, sleep(STOP_MS, "late", { ref: false })])) === "late") child.kill("SIGKILL");
    await ended;
  };

  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + READY_MS;
  try {
    while (true) {
      signal.throwIfAborted();
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new UsageError(
          `${spec.name} did not start: ${said.trim() || `it ended by ${child.signalCode ?? child.exitCode}`}`,
        );
      }
      const identity = await readIdentity(url, signal).catch(() => undefined);
      if (identity !== undefined) {
        const pid = process.platform === "linux" ? (child.pid ?? null) : null;
        return { name: spec.name, url, identity, pid, startupMs: performance.now() - since, stop };
      }
      if (Date.now() > deadline)
        throw new UsageError(`${spec.name} did not answer within ${READY_MS / 1000} s: ${said.trim()}`);
      await sleep(10);
    }
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @returns a port of this machine that was free just now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
