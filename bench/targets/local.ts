import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { LocalSpec } from "../plan/targets.ts";
import type { ServerStore } from "../stores/stores.ts";
import { pinned } from "./cores.ts";
import { freePort } from "./free-port.ts";
import { readItself, type Target, untilReady } from "./target.ts";

/** How long it may take to end; the contract gives it 5 s. */
const STOP_MS = 6_000;

/** Starts a server on a free port of this machine and waits until it answers. @param store closed when it stops */
export async function start(
  spec: LocalSpec,
  cores: string | undefined,
  signal: AbortSignal,
  store?: ServerStore,
): Promise<Target> {
  const port = await freePort();
  const [command, ...args] = pinned(cores, spec.command);
  const since = performance.now();
  const child = spawn(command, args, {
    env: { ...process.env, ...spec.env, ...store?.env, HOST: "127.0.0.1", PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-2_000);
  });
  const ended = once(child, "close");
  const stop = async () => {
    child.kill("SIGTERM");
    if ((await Promise.race([ended, sleep(STOP_MS, "late", { ref: false })])) === "late") child.kill("SIGKILL");
    await ended;
    await store?.close();
  };

  const url = `http://127.0.0.1:${port}`;
  const state = () => {
    const up = child.exitCode === null && child.signalCode === null;
    return { up, log: log.trim() || (up ? "" : `it ended by ${child.signalCode ?? child.exitCode}`) };
  };
  try {
    const identity = await untilReady(spec.name, url, signal, state);
    const pid = process.platform === "linux" ? (child.pid ?? null) : null;
    const read = () => readItself(url, signal);
    const startupMs = performance.now() - since;
    return { name: spec.name, url, identity, pid, databasePid: store?.pid ?? null, startupMs, read, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
