import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { UsageError } from "../../../shared/errors.ts";
import { callersEnvironment } from "../../ask/caller.ts";
import type { LocalSpec } from "../../ask/targets.ts";
import { pinned } from "../../host/cores.ts";
import { freePort } from "../../host/free-port.ts";
import { newGroup } from "../../host/group.ts";
import { markApp } from "../../host/sweep.ts";
import type { ServerStore } from "../stores/stores.ts";
import { clocksOf, NO_HELPERS, readItself, type Target, untilReady } from "./target.ts";

/** @throws UsageError where something else listens on the port: it would be measured instead. */
async function claim(name: string, port: number): Promise<void> {
  const probe = createServer().listen(port, "127.0.0.1");
  try {
    await once(probe, "listening");
  } catch {
    throw new UsageError(
      `${name} cannot have port ${port}, something listens on it: stop that, or give it another port`,
    );
  }
  probe.close();
  await once(probe, "close");
}

/** @param whole its process group as well, what has ended included */
function end(child: ChildProcess, signal: NodeJS.Signals, whole: boolean): void {
  try {
    if (whole) process.kill(-(child.pid as number), signal);
    else child.kill(signal);
  } catch {
    // it has ended already
  }
}

const MOST_SAID = 2_000;

/** The last whole lines of what it said, each once of those that are said again and again. */
function lastLines(log: string): string {
  const whole = log.length < MOST_SAID ? log : log.slice(log.indexOf("\n") + 1);
  return whole.trim().replace(/^(.*)(\n\1)+$/gm, "$1");
}

/** How long it may take to end; the contract gives it 5 s. */
const STOP_MS = 6_000;

/**
 * Starts a server on this machine and waits until it answers: ours at a free port, an app where it wants to be.
 * @param store closed when it stops
 */
export async function start(
  spec: LocalSpec,
  cores: string | undefined,
  signal: AbortSignal,
  store?: ServerStore,
): Promise<Target> {
  const { app } = spec;
  if (app?.port) await claim(spec.name, app.port);
  const port = app?.port ?? (await freePort());
  const group = newGroup();
  const inGroup = group?.enter(spec.command) ?? spec.command;
  const [command, ...args] = pinned(cores, inGroup).map((word) => word.replaceAll("{port}", String(port)));
  const mark = app && markApp();
  const since = performance.now();
  const child = spawn(command as string, args, {
    cwd: app?.cwd,
    env: {
      ...(app ? callersEnvironment() : process.env),
      ...spec.env,
      ...store?.env,
      ...mark?.env,
      HOST: "127.0.0.1",
      PORT: String(port),
    },
    stdio: ["ignore", "ignore", "pipe"],
    // A session of its own, for all alike: the scheduler of Linux shares a core between sessions (sched(7), autogroup). And
    // a group of its own, as the shell of an app and what it starts are to end together.
    detached: true,
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-MOST_SAID);
  });
  const ended = once(child, "close");
  const stop = async () => {
    end(child, "SIGTERM", app !== undefined);
    if ((await Promise.race([ended, sleep(STOP_MS, "late", { ref: false })])) === "late")
      end(child, "SIGKILL", app !== undefined);
    mark?.end(); // before its output is waited for, which what has left its group may hold open
    await ended;
    await group?.remove();
    await store?.close();
  };

  const url = `http://127.0.0.1:${port}`;
  const state = () => {
    const up = child.exitCode === null && child.signalCode === null;
    return { up, log: lastLines(log) || (up ? "" : `it ended by ${child.signalCode ?? child.exitCode}`) };
  };
  try {
    const identity = await untilReady(spec.name, url, signal, state, app?.ready);
    const startupMs = performance.now() - since;
    const pid = process.platform === "linux" ? (child.pid ?? null) : null;
    const { helpers = NO_HELPERS } = store ?? {};
    return {
      spec,
      name: spec.name,
      url,
      identity,
      pid,
      clocks: pid === null ? null : clocksOf(pid, group?.folder ?? null, helpers),
      databaseUrl: helpers.databaseUrl,
      startupMs,
      read: () => readItself(url, signal),
      ended: () => (state().up ? null : state().log),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
