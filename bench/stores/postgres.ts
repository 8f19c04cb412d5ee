/** A PostgreSQL of this run's own, thrown away with its data. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SQL } from "bun";
import { UsageError } from "../../shared/errors.ts";
import { pinned } from "../targets/cores.ts";
import { freePort } from "../targets/free-port.ts";
import { folderOnDisk } from "./folders.ts";

export interface Postgres {
  /** postgres://…, with the password; stays the same over restarts. */
  readonly url: string;
  /** The postmaster, parent of every backend, on Linux; null elsewhere, in a container and while it is stopped. */
  readonly pid: number | null;
  /** The data directory: while the server is stopped, a template for {@link startPostgres}. */
  readonly folder: string;
  /** Shuts the server down and keeps the data. */
  stopServer(): Promise<void>;
  /** Starts it again. @throws UsageError with what the server said */
  startServer(): Promise<void>;
  /** Ends the server and removes the data. */
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Cores that it may run on, as `taskset -c` takes them. */
  readonly cores?: string | undefined;
  /** {@link Postgres.folder} of a stopped server, or a copy of it, to begin with a copy of; else an empty cluster. */
  readonly data?: string | undefined;
  /** Ends a start that is under way; what is up is ended by {@link Postgres.stop} only. */
  readonly signal?: AbortSignal | undefined;
  /** Folders or patterns of folders of `postgres` and `initdb`, before Docker is asked. */
  readonly search?: readonly string[] | undefined;
}

/** Where packages put the server's programs, which they often keep from PATH. */
const PACKAGES = [
  "/usr/lib/postgresql/*/bin",
  "/usr/pgsql-*/bin",
  "/opt/homebrew/opt/postgresql*/bin",
  "/usr/local/opt/postgresql*/bin",
];
const IMAGE = "postgres:18";
/** In the data directory, so that a copy brings its own; the server ignores it. */
const PASSWORD = "password";
/** macOS may not have C.UTF-8; C sorts the same. */
const LOCALE = process.platform === "darwin" ? "C" : "C.UTF-8";
const INITDB = ["--auth=scram-sha-256", "--encoding=UTF8", `--locale=${LOCALE}`, "--no-sync"];
const READY_MS = 60_000;
/** How long it may take to end: a shutdown writes what is still in memory. */
const STOP_MS = 10_000;

/**
 * Starts a PostgreSQL on a free port of 127.0.0.1, with the settings it comes with: those of durability too. Its programs
 * are this machine's, or in a container. @throws UsageError where there is neither, or with what the server said
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const { cores, data, signal = new AbortController().signal, search } = options;
  const programs = findPrograms(search);
  if (programs === null) await needDocker(signal);
  const user = unprivileged();
  const template = data === undefined ? programs && (await emptyCluster(programs, user, signal)) : resolve(data);
  if (template !== null && !existsSync(join(template, PASSWORD))) {
    throw new UsageError(`${template} is no data folder of startPostgres: it has no file "${PASSWORD}"`);
  }
  const port = await freePort();
  const folder = ownFolder(user);
  const guard = guarded(folder);
  let server: Server | null = null;

  const stopServer = async () => {
    await server?.stop();
    server = null;
    guard.watch(null);
  };
  const stop = async () => {
    await stopServer();
    await guard.release();
  };
  try {
    if (template !== null) await copyCluster(template, folder, user, signal);
    const password = template ? readFileSync(join(folder, PASSWORD), "utf8") : newPassword();
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    const startServer = async () => {
      if (server !== null) return;
      server = programs
        ? launch(localCommand(programs, folder, port, cores), user)
        : launchContainer(folder, port, password, cores, user);
      guard.watch(server.pid);
      await untilReady(url, server, signal).catch(async (error) => {
        await stopServer();
        throw error;
      });
    };
    await startServer();
    if (template === null) writeFileSync(join(folder, PASSWORD), password);
    const visible = programs !== null && process.platform === "linux";
    return {
      url,
      get pid() {
        return visible ? (server?.pid ?? null) : null;
      },
      folder,
      stopServer,
      startServer,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Whom the server runs as: it refuses root. */
interface User {
  readonly uid: number;
  readonly gid: number;
}

/** @returns null where this process is not root and the server can run as the same user. */
function unprivileged(): User | null {
  if (process.getuid?.() !== 0) return null;
  const users = readFileSync("/etc/passwd", "utf8");
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(users) ?? /^nobody:[^:]*:(\d+):(\d+):/m.exec(users) ?? [];
  if (uid === undefined)
    throw new UsageError("PostgreSQL does not run as root, and there is no user postgres or nobody");
  return { uid: Number(uid), gid: Number(gid) };
}

/** @returns the folder of the server's programs: the first on PATH, or the newest of a package's; null without. */
export function findPrograms(
  search: readonly string[] = [...(process.env.PATH ?? "").split(delimiter), ...PACKAGES],
): string | null {
  const newestFirst = (pattern: string) =>
    globSync(pattern).sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  const complete = (folder: string) => ["initdb", "postgres"].every((name) => existsSync(join(folder, name)));
  const found = search.filter(Boolean).flatMap(newestFirst).find(complete);
  return found === undefined ? null : resolve(found);
}

/** Has an engine get the image. @throws UsageError where there is no engine */
async function needDocker(signal: AbortSignal): Promise<void> {
  await run(["docker", "version"], null, signal).catch(() => {
    signal.throwIfAborted();
    throw new UsageError(
      "there is no PostgreSQL: name one by DATABASE_URL, install the package postgresql, or start Docker",
    );
  });
  const has = run(["docker", "image", "inspect", IMAGE], null, signal);
  await has.catch(() => run(["docker", "pull", "-q", IMAGE], null, signal));
}

const newPassword = () => randomBytes(16).toString("hex");

function ownFolder(user: User | null): string {
  const folder = folderOnDisk("postgres");
  if (user) chownSync(folder, user.uid, user.gid);
  return folder;
}

const empty = new Map<string, Promise<string>>();

/** @returns a cluster as initdb makes it: once per process, as a copy takes less time. */
function emptyCluster(programs: string, user: User | null, signal: AbortSignal): Promise<string> {
  const known = empty.get(programs);
  if (known) return known;
  const made = initialize(programs, user, signal);
  empty.set(programs, made);
  made.catch(() => empty.delete(programs));
  return made;
}

async function initialize(programs: string, user: User | null, signal: AbortSignal): Promise<string> {
  const folder = ownFolder(user);
  const guard = guarded(folder);
  const [cluster, password] = [join(folder, "cluster"), join(folder, PASSWORD)];
  writeFileSync(password, newPassword(), { mode: 0o600 });
  if (user) chownSync(password, user.uid, user.gid);
  try {
    const options = ["--pgdata", cluster, "--username=postgres", "--pwfile", password, ...INITDB];
    await run([join(programs, "initdb"), ...options], user, signal);
  } catch (error) {
    await guard.release();
    throw error;
  }
  renameSync(password, join(cluster, PASSWORD));
  return cluster;
}

/** By cp, which is several times as fast as node:fs, and clones where the file system can. */
async function copyCluster(from: string, to: string, user: User | null, signal: AbortSignal): Promise<void> {
  await run(["cp", "-a", `${from}/.`, to], null, signal);
  if (user) await run(["chown", "-R", `${user.uid}:${user.gid}`, to], null, signal);
  chmodSync(to, 0o700);
  rmSync(join(to, "postmaster.pid"), { force: true }); // of a server that was killed
}

function localCommand(programs: string, folder: string, port: number, cores: string | undefined): string[] {
  const settings = ["listen_addresses=127.0.0.1", `port=${port}`, "unix_socket_directories=", "max_connections=300"];
  const options = ["-D", folder, ...settings.flatMap((setting) => ["-c", setting])];
  return pinned(cores, [join(programs, "postgres"), ...options]);
}

interface Server extends Pick<Program, "ended" | "how" | "output"> {
  readonly pid: number | null;
  stop(): Promise<void>;
}

function launch(command: readonly string[], user: User | null, kill?: () => Promise<unknown>): Server {
  const { child, how, output, ended } = start(command, user);
  const stop = async () => {
    child.kill("SIGINT"); // a "fast shutdown", which does not wait for clients
    const late = (await Promise.race([ended, sleep(STOP_MS, "late", { ref: false })])) === "late";
    if (late) await (kill ? kill() : child.kill("SIGKILL"));
    await ended;
  };
  return { pid: child.pid ?? null, ended, how, output, stop };
}

/** The docker command passes signals on, so that a container ends as a process does. */
function launchContainer(
  folder: string,
  port: number,
  password: string,
  cores: string | undefined,
  user: User | null,
): Server {
  const name = `http-benchmark-postgres-${port}`;
  const { uid, gid } = user ?? { uid: process.getuid?.(), gid: process.getgid?.() };
  const env = { PGDATA: "/data", POSTGRES_PASSWORD: password, POSTGRES_INITDB_ARGS: INITDB.join(" ") };
  const command = [
    ...["docker", "run", "--rm", "--name", name, "--user", `${uid}:${gid}`, "--volume", `${folder}:/data`],
    ...["--publish", `127.0.0.1:${port}:5432`, ...(cores ? ["--cpuset-cpus", cores] : [])],
    ...Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
    ...[IMAGE, "-c", "listen_addresses=*", "-c", "max_connections=300"],
  ];
  return launch(command, null, () => run(["docker", "rm", "--force", name], null).catch(() => {}));
}

async function untilReady(url: string, { ended, how, output }: Server, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + READY_MS;
  while (true) {
    signal.throwIfAborted();
    if (how() !== null) throw new UsageError(`PostgreSQL did not start: ${output() || `it ended by ${how()}`}`);
    const sql = new SQL(url, { max: 1, connectionTimeout: 5 });
    const answer = sql`select 1`.then(
      () => true,
      () => false,
    );
    const ready = await Promise.race([answer, ended]); // another server may have the port
    await sql.close({ timeout: 0 });
    if (ready) return;
    if (Date.now() > deadline) {
      throw new UsageError(`PostgreSQL accepted no connection within ${READY_MS / 1000} s: ${output()}`);
    }
    await sleep(10);
  }
}

/**
 * Removes a folder, with the server in it, as soon as this process ends, however it does: a shell waits for the end of a
 * pipe that closes then.
 */
function guarded(folder: string): { watch(pid: number | null): void; release(): Promise<void> } {
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

/** Runs a program to its end. @throws UsageError with what it complained of */
async function run(command: readonly string[], user: User | null, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const { how, output, ended } = start(command, user, signal);
  await ended;
  signal?.throwIfAborted();
  if (how() !== "0") throw new UsageError(`${command[0]} failed: ${output() || how()}`);
}

interface Program {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  /** Its exit status, the signal that ended it or why it could not be run; null while it runs. */
  how(): string | null;
  /** The last line of what it complained of. */
  output(): string;
}

function start(command: readonly string[], user: User | null, signal?: AbortSignal): Program {
  const [name = "", ...args] = command;
  // Not in this process's folder, which another user may have no access to.
  const options = { ...user, ...(signal && { signal }), cwd: "/" };
  const child = spawn(name, args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  child.stderr.setEncoding("utf8").on("data", (more: string) => {
    text = (text + more).slice(-4_000);
  });
  let how: string | null = null;
  const ended = new Promise<void>((resolve) => {
    const end = (reason: string) => {
      how ??= reason;
      resolve();
    };
    child.on("error", ({ message }) => end(message));
    child.on("close", (code, signal) => end(String(code ?? signal)));
  });
  const output = () => {
    const lines = text.trim().split("\n");
    return lines.findLast((line) => /\b(error|FATAL|PANIC|DETAIL):/i.test(line)) ?? lines.at(-1) ?? "";
  };
  return { child, ended, how: () => how, output };
}
