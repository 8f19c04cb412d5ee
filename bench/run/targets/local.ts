import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "node:tls";
import { UsageError } from "../../../shared/errors.ts";
import { callersEnvironment } from "../../ask/caller.ts";
import type { LocalSpec } from "../../ask/targets.ts";
import { endAfter, thenEnd } from "../../host/clean-up.ts";
import { pinned } from "../../host/cores.ts";
import { freePort, isFree } from "../../host/free-port.ts";
import { newGroup } from "../../host/group.ts";
import { family, isForwarder, listenerOf, listeningOf, nameOf } from "../../host/proc.ts";
import { markApp } from "../../host/sweep.ts";
import { ask } from "../../load/ask.ts";
import type { ServerStore } from "../stores/stores.ts";
import { clocksOf, NO_HELPERS, readItself, type Target, untilReady } from "./target.ts";

/** @returns the server's port. @throws UsageError if another process uses it, because that one would be measured instead */
async function portOf({ name, app }: LocalSpec): Promise<number> {
  if (!app?.port) return freePort();
  if (await isFree(app.port)) return app.port;
  throw new UsageError(
    `${name} cannot listen on port ${app.port}, because it is in use: stop what listens there, or choose another`,
  );
}

/** @param whole whether to signal its whole process group, even if the process itself has ended */
function end(child: ChildProcess, signal: NodeJS.Signals, whole: boolean): void {
  try {
    if (whole) process.kill(-(child.pid as number), signal);
    else child.kill(signal);
  } catch {
    // it has ended already
  }
}

const MOST_SAID = 2_000;

/** Keeps the end of a process's output. @returns its last whole lines, repeated lines only once */
function listenTo(child: ChildProcess): () => string {
  let log = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-MOST_SAID);
    });
  }
  return () => {
    const whole = log.length < MOST_SAID ? log : log.slice(log.indexOf("\n") + 1);
    return whole.trim().replace(/^(.*)(\n\1)+$/gm, "$1");
  };
}

function spawnServer({ app }: LocalSpec, command: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  return spawn(command, args, {
    cwd: app?.cwd,
    env,
    // Some servers end when their stdin ends, so it stays open.
    stdio: ["pipe", app ? "pipe" : "ignore", "pipe"],
    // Each server gets its own session, because Linux shares a core between sessions (sched(7), autogroup), and its own
    // process group, because the shell of an app and the processes that it starts must end together.
    detached: true,
  });
}

/** Time limit of a shutdown; the contract allows 5 s. */
const STOP_MS = 6_000;

/**
 * Starts a server on this machine and waits until it answers. It gets a free port, unless it is an app with its own port.
 * @param store closed when the server stops
 */
export async function start(
  spec: LocalSpec,
  cores: string | undefined,
  signal: AbortSignal,
  store?: ServerStore,
): Promise<Target> {
  const { app, name } = spec;
  const port = await portOf(spec);
  const group = newGroup();
  const inGroup = group?.enter(spec.command) ?? spec.command;
  const [command, ...args] = pinned(cores, inGroup).map((word) => word.replaceAll("{port}", String(port)));
  const mark = app && markApp();
  const since = performance.now();
  const child = spawnServer(spec, command as string, args, {
    ...environmentOf(spec, port),
    ...store?.env,
    ...mark?.env,
  });
  const said = listenTo(child);
  const ended = once(child, "close");
  const stop = async () => {
    end(child, "SIGTERM", app !== undefined);
    if ((await Promise.race([ended, sleep(STOP_MS, "late", { ref: false })])) === "late")
      end(child, "SIGKILL", app !== undefined);
    mark?.end(); // before `ended`, because processes that left the group may hold its output open
    await thenEnd(
      () => ended,
      () => [group?.remove(), store?.close()],
    );
  };

  const state = () => {
    const up = child.exitCode === null && child.signalCode === null;
    const how = child.exitCode === 0 ? "it ended by 0: start it in the foreground" : "";
    const why = up ? "" : how || (said() ? "" : `it ended by ${child.signalCode ?? child.exitCode}`);
    return { up, log: [said(), why].filter(Boolean).join("; ") };
  };
  const where = app ? locate(spec, child.pid as number, port) : async () => `http://127.0.0.1:${port}`;
  try {
    const { identity, url } = await untilReady(name, signal, async () => ({ ...state(), url: await where() }), app);
    const startupMs = performance.now() - since;
    const { pid, notes } = app ? serving(spec, child.pid as number, url) : { pid: child.pid as number, notes: [] };
    const { helpers = NO_HELPERS } = store ?? {};
    return {
      spec,
      name,
      url,
      identity,
      pid,
      notes,
      clocks: pid === null ? null : clocksOf(pid, pid === child.pid ? (group?.folder ?? null) : null, helpers),
      databaseUrl: helpers.databaseUrl,
      startupMs,
      read: () => readItself(url, signal, app?.insecure),
      ended: () => (state().up ? null : state().log),
      stop,
    };
  } catch (error) {
    return endAfter(error, stop());
  }
}

/** An app gets the environment in which bench.sh was called. */
const environmentOf = ({ app, env }: LocalSpec, port: number) => ({
  ...(app ? { NODE_ENV: "production", ...callersEnvironment() } : process.env),
  HOST: "127.0.0.1",
  ...env,
  PORT: String(port),
});

/** Interval at which the run looks where an app listens, while the app does not answer. */
const LOOK_MS = 200;
/** An app that has listened only on other ports for this long will not listen on PORT. */
const ELSEWHERE_MS = 4_000;

/** @returns where to ask an app next: it may listen at another address than 127.0.0.1, and speak HTTPS. */
function locate({ name, app }: LocalSpec, pid: number, port: number): () => Promise<string> {
  let url = `http://127.0.0.1:${port}`;
  let looked = performance.now();
  let elsewhereSince: number | null = null;
  return async () => {
    if (performance.now() - looked < LOOK_MS) return url;
    looked = performance.now();
    const all = listeningOf(family(pid));
    const here = all.filter((one) => one.port === port);
    const other = all.find((one) => one.port !== port);
    if (here.length > 0) {
      elsewhereSince = null;
      const isAny = here.some(({ host }) => /^(0\.0\.0\.0|\[::\]|127\.0\.0\.1)$/.test(host));
      const host = `${isAny ? "127.0.0.1" : here[0]?.host}:${port}`;
      url = `${(await speaksTls(host)) ? "https" : "http"}://${host}`;
      if (url.startsWith("https:") && !app?.insecure) await checkCertificate(name, url);
    } else if (other) {
      elsewhereSince ??= performance.now();
      if (performance.now() - elsewhereSince > ELSEWHERE_MS) throw listensElsewhere(name, other.port, port);
    }
    return url;
  };
}

const listensElsewhere = (name: string, other: number, port: number): UsageError =>
  new UsageError(
    `${name} listens on port ${other}, not on PORT (${port}): give --port ${other}, or, for several at once, let it read PORT or write {port} in its command`,
  );

/** Whether a handshake succeeds. @param host with its port */
function speaksTls(host: string): Promise<boolean> {
  const { hostname, port } = new URL(`http://${host}`);
  return new Promise((resolve) => {
    const options = { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port), rejectUnauthorized: false };
    const socket = connect(options, () => done(true));
    const done = (does: boolean) => {
      socket.destroy();
      resolve(does);
    };
    socket.setTimeout(1_000, () => done(false)).on("error", () => done(false));
  });
}

/** @throws UsageError for a certificate that this machine does not trust */
async function checkCertificate(name: string, url: string): Promise<void> {
  const error = await ask({ url: `${url}/` }, AbortSignal.timeout(5_000)).catch((error: Error) => error);
  if (error instanceof UsageError && error.message.includes("--insecure"))
    throw new UsageError(`${name} speaks HTTPS: ${error.message}`);
}

/** @returns the process whose CPU time counts as the app's (null if it cannot be seen), and notes for the user about it */
function serving({ name }: LocalSpec, pid: number, url: string): { pid: number | null; notes: string[] } {
  const port = Number(new URL(url).port);
  const own = family(pid);
  const isOwn = listeningOf(own.filter((one) => !isForwarder(one))).some((at) => at.port === port);
  if (isOwn) return { pid, notes: [] };
  const other = listenerOf(port);
  return other === null
    ? {
        pid: null,
        notes: [
          `${name}: its CPU time is not known, because the process that answers is not one of its own: ranked by requests/s only`,
        ],
      }
    : {
        pid: other,
        notes: [
          `${name}: CPU time and memory are those of ${nameOf(other)}, which answers for it but was not started by its command`,
        ],
      };
}
