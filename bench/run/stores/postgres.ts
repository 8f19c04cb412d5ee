/** A PostgreSQL of this run's own, thrown away with its data. */
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { UsageError } from "../../../shared/errors.ts";
import { pinned } from "../../host/cores.ts";
import { freePort } from "../../host/free-port.ts";
import { guarded, launch, ownFolder, run, type Server, type User, unprivileged, untilReady } from "./programs.ts";

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

/**
 * Starts a PostgreSQL on a free port of 127.0.0.1, with the settings it comes with: those of durability too. Its programs
 * are this machine's, or in a container. @throws UsageError if there is neither, or with what the server said
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
  const folder = ownFolder("postgres", user);
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
        ? launch(localCommand(programs, folder, port, cores), user, "SIGINT")
        : launchContainer(folder, port, password, cores, user);
      guard.watch(server.pid);
      await untilReady("PostgreSQL", url, server, signal).catch(async (error) => {
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

/** Lets the engine pull the image. @throws UsageError if there is no engine */
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
  const folder = ownFolder("postgres", user);
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

/** By cp, which is several times as fast as node:fs, and clones if the file system can. */
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
  return launch(command, null, "SIGINT", () => run(["docker", "rm", "--force", name], null).catch(() => {}));
}
