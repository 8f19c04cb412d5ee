/** Servers that a run starts for itself (Postgres, a pooler), each with a folder that is removed when the server stops. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { SQL } from "bun";
import { UsageError } from "../../../shared/errors.ts";
import { type Ended, lastLine, run as runCommand, start } from "../../host/command.ts";
import { folderOnDisk } from "../../host/folders.ts";

const READY_MS = 60_000;
/** Time limit of a shutdown, in which Postgres writes to disk what is still in memory. */
const STOP_MS = 10_000;

/** The user for programs that refuse to run as root. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** @returns null if this process is not root and programs can run as the same user. @throws UsageError */
export function unprivileged(): User | null {
  if (process.getuid?.() !== 0) return null;
  const users = readFileSync("/etc/passwd", "utf8");
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(users) ?? /^nobody:[^:]*:(\d+):(\d+):/m.exec(users) ?? [];
  if (uid === undefined)
    throw new UsageError("PostgreSQL and its poolers do not run as root, and there is no user postgres or nobody");
  return { uid: Number(uid), gid: Number(gid) };
}

/** @returns a new folder on a disk. @param kind of its content */
export function ownFolder(kind: string, user: User | null): string {
  const folder = folderOnDisk(kind);
  if (user) chownSync(folder, user.uid, user.gid);
  return folder;
}

export interface Server {
  readonly pid: number;
  /** Resolves with its error message when it has ended. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts a program in the folder /, because another user may have no access to the folder of this process.
 * @param fast signal that ends it without waiting for its clients
 */
export function launch(command: readonly string[], user: User | null, fast: NodeJS.Signals): Server {
  const child = start(command, { user, cwd: "/" });
  const ended = child.ended.then(complaintOf);
  const stop = async () => {
    child.kill(fast);
    const late = (await Promise.race([ended, sleep(STOP_MS, null, { ref: false })])) === null;
    if (late) child.kill("SIGKILL");
    await ended;
  };
  return { pid: child.pid, ended, stop };
}

/** The last error, else the last line, else the exit code. */
const complaintOf = ({ code, stderr }: Ended): string => {
  const errors = stderr.split("\n").filter((line) => /\b(error|FATAL|PANIC|DETAIL):/i.test(line));
  return errors.at(-1) || lastLine(stderr) || `it ended by ${code ?? "a signal"}`;
};

/** Waits until a server that speaks the Postgres protocol answers. @throws UsageError with what it said */
export async function untilReady(name: string, url: string, { ended }: Server, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + READY_MS;
  while (true) {
    signal.throwIfAborted();
    const sql = new SQL(url, { max: 1, connectionTimeout: 5 });
    const answer = sql`select 1`.then(
      () => true,
      () => false,
    );
    const ready = await Promise.race([ended, answer]); // `ended` wins, because another server may answer on the port
    await sql.close({ timeout: 0 });
    if (typeof ready === "string") throw new UsageError(`${name} did not start: ${ready}`);
    if (ready) return;
    if (Date.now() > deadline) throw new UsageError(`${name} accepted no connection within ${READY_MS / 1000} s`);
    await sleep(10);
  }
}

/**
 * Kills the server and removes its folder as soon as this process ends, even by SIGKILL: a shell waits until the pipe from
 * this process closes.
 */
export function guarded(folder: string): { watch(pid: number | null): void; release(): Promise<void> } {
  const remove = `for i in 1 2 3 4 5 6 7 8 9; do rm -rf "$0" && break; sleep 0.2; done`;
  const script = `while read -r pid; do server=$pid; done; [ -z "$server" ] || kill -QUIT "$server"; ${remove}`;
  const child = spawn("sh", ["-c", script, folder], { detached: true, stdio: ["pipe", "ignore", "ignore"], cwd: "/" });
  child.unref();
  const closed = once(child, "close");
  child.stdin.on("error", () => {}); // it may have been killed
  return {
    watch: (pid) => child.stdin.write(`${pid ?? ""}\n`),
    release: async () => {
      child.ref();
      child.stdin.end();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs a program to its end. @throws UsageError with its error message */
export async function run(command: readonly string[], user: User | null, signal?: AbortSignal): Promise<void> {
  const ended = await runCommand(command, { user, signal, cwd: "/" });
  if (ended.code !== 0) throw new UsageError(`${command[0]} failed: ${complaintOf(ended)}`);
}
