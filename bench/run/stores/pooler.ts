/** A pooler between a server and its Postgres, removed with the server. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { WAITS } from "../../../shared/drivers/drivers.ts";
import { UsageError } from "../../../shared/errors.ts";
import { endAfter } from "../../host/clean-up.ts";
import { pinned } from "../../host/cores.ts";
import { freePort } from "../../host/free-port.ts";
import { guarded, launch, ownFolder, type Server, unprivileged, untilReady } from "./programs.ts";

/** From 1.24 on, pgbouncer supports prepared statements by default; 1.21 to 1.23 need a setting for it. */
const GOOD = ">=1.24.0";

/** @returns null if pgbouncer is not on PATH. */
export const pgbouncerVersion = (): string | null =>
  /PgBouncer (\S+)/.exec(spawnSync("pgbouncer", ["--version"], { encoding: "utf8" }).stdout ?? "")?.[1] ?? null;

/** @throws UsageError if pgbouncer is missing or breaks prepared statements */
export function needPgbouncer(version = pgbouncerVersion()): void {
  const remedy = "install version 1.24 or later, or leave +pooler out";
  if (version === null) throw new UsageError(`there is no pgbouncer on PATH: ${remedy}`);
  if (!Bun.semver.satisfies(version, GOOD))
    throw new UsageError(`pgbouncer ${version} breaks prepared statements of most clients: ${remedy}`);
}

/**
 * Starts pgbouncer on a free port of 127.0.0.1, in transaction mode: a client has a Postgres connection for one
 * transaction. Other settings are the defaults (at most 20 connections to Postgres), except the limit of clients and the
 * statement timeout, which without a pooler the server's clients set for each connection.
 * @param database its URL @returns its URL through the pooler @throws UsageError
 */
export async function startPooler(database: string, cores: string | undefined, signal: AbortSignal) {
  needPgbouncer();
  const { hostname, port, username, password } = new URL(database);
  const user = unprivileged();
  const folder = ownFolder("pgbouncer", user);
  const guard = guarded(folder);
  const listen = await freePort();
  const [settings, users] = [join(folder, "pgbouncer.ini"), join(folder, "users.txt")];
  writeFileSync(users, `"${username}" "${password}"\n`, { mode: 0o644 });
  writeFileSync(
    settings,
    `[databases]
* = host=${hostname} port=${port} connect_query='SET statement_timeout = ${WAITS.statement * 1e3}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listen}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
max_client_conn = 2000
ignore_startup_parameters = statement_timeout,extra_float_digits,options
log_connections = 0
log_disconnections = 0
log_stats = 0
`,
  );
  let server: Server | null = null;
  const stop = async () => {
    await server?.stop();
    await guard.release();
  };
  try {
    server = launch(pinned(cores, ["pgbouncer", settings]), user, "SIGQUIT");
    guard.watch(server.pid);
    const url = Object.assign(new URL(database), { hostname: "127.0.0.1", port: String(listen) }).href;
    await untilReady("pgbouncer", url, server, signal);
    return { url, pid: server.pid, stop };
  } catch (error) {
    return endAfter(error, stop());
  }
}
