import { UsageError } from "./errors.ts";
import { DRIVERS, type Runtime } from "./stores/store.ts";

/** Everything that is set from outside, by environment variables. */
export interface Config {
  readonly server: string;
  readonly runtime: Runtime;
  readonly framework: string;
  readonly host: string;
  readonly port: number;
  readonly dbFile: string;
  readonly driver: string;
  readonly workers: number;
}

/** @throws UsageError naming the variable, its value and what it may be. */
export function readConfig(env: Readonly<Record<string, string | undefined>>, servers: readonly string[]): Config {
  const runtime = process.versions.bun ? "bun" : "node";
  const server = env.SERVER ?? "";
  if (!servers.includes(server))
    throw new UsageError(`SERVER is ${JSON.stringify(server)}: set it to one of ${servers.join(" ")}`);
  if (!server.startsWith(`${runtime}-`))
    throw new UsageError(`SERVER=${server} does not run on ${runtime}: start it with: SERVER=${server} bun start`);
  const drivers: readonly string[] = DRIVERS[runtime];
  const driver = env.SQLITE_DRIVER || DRIVERS[runtime][0];
  if (!drivers.includes(driver))
    throw new UsageError(`SQLITE_DRIVER is "${driver}": on ${runtime} set it to one of ${drivers.join(" ")}`);
  return {
    server,
    runtime,
    framework: server.slice(runtime.length + 1),
    host: env.HOST || "0.0.0.0",
    port: integer(env, "PORT", 3000, 65535),
    dbFile: env.DB_FILE || "data.db",
    driver,
    workers: integer(env, "WORKERS", 1, 256),
  };
}

function integer(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  otherwise: number,
  most: number,
): number {
  const text = env[name] || String(otherwise);
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > most) {
    throw new UsageError(`${name} is "${text}": set it to an integer from 1 to ${most}`);
  }
  return value;
}
