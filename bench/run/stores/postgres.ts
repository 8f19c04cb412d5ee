/** A PostgreSQL for one run only, removed with its data. */
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { UsageError } from "../../../shared/errors.ts";
import { endAfter } from "../../host/clean-up.ts";
import { pinned } from "../../host/cores.ts";
import { freePort } from "../../host/free-port.ts";
import { guarded, launch, ownFolder, run, type Server, type User, unprivileged, untilReady } from "./programs.ts";

export interface Postgres {
  /** postgres://…, with the password; stays the same over restarts. */
  readonly url: string;
  /** The postmaster, parent of every backend; null while it is stopped. */
  readonly pid: number | null;
  /** Data and password: while the server is stopped, a template for {@link startPostgres}. */
  readonly folder: string;
  stopServer(): Promise<void>;
  /** Starts it again. @throws UsageError with what the server said */
  startServer(): Promise<void>;
  /** Ends the server and removes the data. */
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Cores that it may run on, as `taskset -c` takes them. */
  readonly cores?: string | undefined;
  /** Data to copy: {@link Postgres.folder} of a stopped server, or a copy of it; if absent, the cluster is empty. */
  readonly data?: string | undefined;
  /** Cancels a start; only {@link Postgres.stop} ends a server that is up. */
  readonly signal?: AbortSignal | undefined;
  /** Folders, or patterns of folders, that hold `postgres` and `initdb`. */
  readonly search?: readonly string[] | undefined;
}

/** Where packages install the server's programs, often outside PATH. */
const PACKAGES = ["/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin"];
/** Names in a server's folder. */
const [DATA, PASSWORD] = ["data", "password"];

/**
 * Starts this machine's PostgreSQL on a free port of 127.0.0.1 with default settings, also for durability.
 * @throws UsageError if PostgreSQL is not installed, or with what the server said
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const { cores, data, signal = new AbortController().signal, search } = options;
  const programs = findPrograms(search);
  if (programs === null)
    throw new UsageError("there is no PostgreSQL: name one by DATABASE_URL, or install the package postgresql");
  if (data !== undefined && !existsSync(join(data, PASSWORD)))
    throw new UsageError(`${data} is no data folder of startPostgres: it has no file "${PASSWORD}"`);
  const user = unprivileged();
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
    if (data === undefined) await makeCluster(programs, folder, user, signal);
    else await copyCluster(resolve(data), folder, user, signal);
    const password = readFileSync(join(folder, PASSWORD), "utf8");
    const port = await freePort();
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    const settings = ["listen_addresses=127.0.0.1", `port=${port}`, "unix_socket_directories=", "max_connections=300"];
    const command = [join(programs, "postgres"), "-D", join(folder, DATA), ...settings.flatMap((one) => ["-c", one])];
    const startServer = async () => {
      if (server !== null) return;
      server = launch(pinned(cores, command), user, "SIGINT");
      guard.watch(server.pid);
      await untilReady("PostgreSQL", url, server, signal).catch(async (error) => {
        await stopServer();
        throw error;
      });
    };
    await startServer();
    return {
      url,
      get pid() {
        return server?.pid ?? null;
      },
      folder,
      stopServer,
      startServer,
      stop,
    };
  } catch (error) {
    return endAfter(error, stop());
  }
}

/** @returns the folder of the server's programs: the first on PATH, else the newest package; null if there is none. */
export function findPrograms(
  search: readonly string[] = [...(process.env.PATH ?? "").split(delimiter), ...PACKAGES],
): string | null {
  const newestFirst = (pattern: string) =>
    globSync(pattern).sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  const complete = (folder: string) => ["initdb", "postgres"].every((name) => existsSync(join(folder, name)));
  const found = search.filter(Boolean).flatMap(newestFirst).find(complete);
  return found === undefined ? null : resolve(found);
}

async function makeCluster(programs: string, folder: string, user: User | null, signal: AbortSignal): Promise<void> {
  const password = join(folder, PASSWORD);
  writeFileSync(password, randomBytes(16).toString("hex"), { mode: 0o600 });
  if (user) chownSync(password, user.uid, user.gid);
  const where = ["--pgdata", join(folder, DATA), "--username=postgres", "--pwfile", password];
  const how = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"];
  await run([join(programs, "initdb"), ...where, ...how], user, signal);
}

/** Uses cp, because it is several times as fast as node:fs, and clones files if the file system can. */
async function copyCluster(from: string, to: string, user: User | null, signal: AbortSignal): Promise<void> {
  await run(["cp", "-a", `${from}/.`, to], null, signal);
  if (user) await run(["chown", "-R", `${user.uid}:${user.gid}`, to], null, signal);
  chmodSync(join(to, DATA), 0o700);
  rmSync(join(to, DATA, "postmaster.pid"), { force: true }); // left by a server that was killed
}
