import type { Connection } from "./contract.ts";
import { CLIENTS, DRIVERS, type Runtime } from "./drivers/drivers.ts";
import { UsageError } from "./errors.ts";

export interface SqliteConfig {
  /** A path, or `:memory:`. */
  readonly file: string;
  readonly journal: string;
  readonly synchronous: string;
}

/** All settings; each comes from an environment variable. */
export interface Config {
  readonly server: string;
  readonly runtime: Runtime;
  readonly framework: string;
  readonly host: string;
  readonly port: number;
  readonly dbFile: string;
  readonly driver: string;
  readonly workers: number;
  /** Where content items are stored. If undefined: sqlite, and the first request that needs it opens it. */
  readonly store: string | undefined;
  readonly sqlite: SqliteConfig;
  readonly client: string;
  readonly postgres: Connection;
  /** How POST /tx runs pgbench's transaction: as statements or as one function. */
  readonly tx: string;
}

/** @throws UsageError that names the variable, its value and the allowed values. */
export function readConfig(env: Environment, servers: readonly string[]): Config {
  const runtime = process.versions.bun ? "bun" : "node";
  const server = env.SERVER ?? "";
  if (!servers.includes(server))
    throw new UsageError(`SERVER is ${JSON.stringify(server)}: set it to one of ${servers.join(" ")}`);
  if (!server.startsWith(`${runtime}-`))
    throw new UsageError(`SERVER=${server} does not run on ${runtime}: start it with: SERVER=${server} bun start`);
  const workers = integer(env, "WORKERS", 1, 256);
  const store = env.STORE ? oneOf(env, "STORE", STORES) : undefined;
  const file = env.CONTENT_FILE || "content.db";
  if (workers > 1 && (store === "memory" || (store !== "postgres" && file === ":memory:"))) {
    throw new UsageError(
      `WORKERS is ${workers}, but workers cannot share a store in memory: set STORE to postgres, or to sqlite with a file in CONTENT_FILE`,
    );
  }
  return {
    server,
    runtime,
    framework: server.slice(runtime.length + 1),
    host: env.HOST || "0.0.0.0",
    port: integer(env, "PORT", 3000, 65535),
    dbFile: env.DB_FILE || "data.db",
    driver: oneOf(env, "SQLITE_DRIVER", DRIVERS[runtime], ` on ${runtime}`),
    workers,
    store,
    sqlite: {
      file,
      journal: oneOf(env, "SQLITE_JOURNAL", ["wal", "delete"]),
      synchronous: oneOf(env, "SQLITE_SYNCHRONOUS", ["normal", "full", "off", "extra"]),
    },
    client: oneOf(env, "POSTGRES_CLIENT", CLIENTS[runtime], ` on ${runtime}`),
    postgres: {
      url: env.DATABASE_URL || DATABASE_URL,
      pool: integer(env, "POSTGRES_POOL", 10, 1_000),
      prepare: oneOf(env, "POSTGRES_PREPARE", ["true", "false"]) === "true",
    },
    tx: oneOf(env, "POSTGRES_TX", ["statements", "function"]),
  };
}

export const DATABASE_URL = "postgres://postgres@127.0.0.1:5432/postgres";

export const STORES = ["sqlite", "memory", "postgres"] as const;

export type Environment = Readonly<Record<string, string | undefined>>;

/** @returns the value of a variable; if it is not set, the first of `choices`. */
function oneOf(env: Environment, name: string, choices: readonly string[], where = ""): string {
  const value = env[name] || (choices[0] as string);
  if (choices.includes(value)) return value;
  throw new UsageError(`${name} is "${value}":${where} set it to one of ${choices.join(" ")}`);
}

function integer(env: Environment, name: string, otherwise: number, most: number): number {
  const text = env[name] || String(otherwise);
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > most) {
    throw new UsageError(`${name} is "${text}": set it to an integer from 1 to ${most}`);
  }
  return value;
}
