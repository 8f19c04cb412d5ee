import { readFileSync } from "node:fs";
import type { Config } from "./config.ts";

/** CPU time so far, and memory now, of the server with all its workers. */
export interface Usage {
  readonly cpuUs: number;
  readonly rssBytes: number;
}

/** The answer to `GET /`. */
export interface Identity extends Usage {
  readonly server: string;
  readonly runtime: { name: string; version: string };
  readonly framework: { name: string; version: string | null };
  readonly driver: { name: string; sqlite: string };
  /** Where content items are stored, with its settings. */
  readonly store: { name: string; driver: string; [setting: string]: unknown };
  readonly workers: number;
  readonly pid: number;
  readonly uptimeSeconds: number;
}

export function processUsage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuUs: user + system, rssBytes: process.memoryUsage.rss() };
}

/** @param usage returns the usage of the whole server; in a worker a promise, because it asks its supervisor. */
export function identify(
  config: Config,
  sqliteVersion: string,
  pid: number,
  usage: () => Usage | Promise<Usage>,
): () => Promise<Identity> {
  const { server, runtime, framework, driver, workers } = config;
  const fixed = {
    server,
    runtime: { name: runtime, version: process.versions[runtime] as string },
    framework: { name: framework, version: versionOf(framework) },
    driver: { name: driver, sqlite: sqliteVersion },
    store: storeOf(config, sqliteVersion),
    workers,
    pid,
  };
  return async () => ({ ...fixed, uptimeSeconds: process.uptime(), ...(await usage()) });
}

function storeOf({ store: name = "sqlite", driver, sqlite, client, postgres, tx }: Config, sqliteVersion: string) {
  if (name === "memory") return { name, driver: name };
  if (name === "sqlite") return { name, driver: `${driver} ${sqliteVersion}`, ...sqlite };
  const { pool, prepare } = postgres;
  return { name, driver: `${client} ${versionOf(client) ?? process.versions.bun}`, pool, prepare, tx };
}

/** @returns the installed version of a package; null if there is none ("raw"). */
function versionOf(name: string): string | null {
  try {
    return JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), "utf8")).version;
  } catch {
    return null;
  }
}
