import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { UsageError } from "../../../shared/errors.ts";
import { SUMS } from "../../../shared/tpcb/tables.ts";
import { endAfter, thenEnd } from "../../host/clean-up.ts";
import { run } from "../../host/command.ts";
import { folderOnDisk } from "../../host/folders.ts";
import { hasEnded, SHORT_OWNER } from "../../host/owner.ts";
import { type Helpers, NO_HELPERS } from "../targets/target.ts";
import { startPooler } from "./pooler.ts";
import { type Postgres, startPostgres } from "./postgres.ts";

/** Where one server keeps content items; removed when the server stops. */
export interface ServerStore {
  readonly env: Readonly<Record<string, string>>;
  /** Processes that work for this server alone: their CPU time counts as the server's. */
  readonly helpers: Helpers;
  close(): Promise<void>;
}

/** Stores of a run: each server begins with a copy of the same content items, and leaves nothing behind. */
export interface Stores {
  /** @param env of the server: STORE and its settings @throws UsageError if there is no Postgres */
  open(env: Readonly<Record<string, string>>, cores: string | undefined): Promise<ServerStore>;
  close(): Promise<void>;
}

/** @param scale of pgbench's tables; if given, databases hold these instead of content items */
export function openStores(signal: AbortSignal, scale?: number): Stores {
  let folder: string | undefined;
  let made: Promise<void> | undefined;
  let copies = 0;
  let databases: Promise<Databases> | undefined;

  async function sqlite(): Promise<ServerStore> {
    folder ??= folderOnDisk("contents");
    // Not content.db of this folder, because servers that a user starts by hand write to it.
    const original = join(folder, "contents.db");
    made ??= createdb(["--contents", "--file", original], signal);
    await made;
    const file = join(folder, `${++copies}.db`);
    copyFileSync(original, file);
    const close = async () => {
      for (const part of ["", "-wal", "-shm", "-journal"]) rmSync(file + part, { force: true });
    };
    return { env: { CONTENT_FILE: file }, helpers: NO_HELPERS, close };
  }

  return {
    async open({ STORE, CONTENT_FILE, POSTGRES_POOLER }, cores) {
      if (STORE === "postgres") {
        const { DATABASE_URL } = process.env;
        databases ??= DATABASE_URL ? given(DATABASE_URL, signal, scale) : throwAway(signal, scale);
        const store = await (await databases).open(cores);
        const checked = scale === undefined ? store : audited(store);
        return POSTGRES_POOLER === undefined ? checked : pooled(checked, cores, signal);
      }
      if (STORE === "sqlite" && CONTENT_FILE === undefined) return sqlite();
      return { env: {}, helpers: NO_HELPERS, close: async () => {} };
    },
    async close() {
      if (folder) rmSync(folder, { recursive: true, force: true });
      await (await databases?.catch(() => null))?.close();
    },
  };
}

interface Databases {
  open(cores: string | undefined): Promise<ServerStore>;
  close(): Promise<void>;
}

/** One cluster per server, so that its CPU time is measured separately. */
async function throwAway(signal: AbortSignal, scale?: number): Promise<Databases> {
  const template = await startPostgres({ signal });
  try {
    await fill(template.url, signal, scale);
    await template.stopServer();
  } catch (error) {
    return endAfter(error, template.stop());
  }
  return {
    async open(cores) {
      const one: Postgres = await startPostgres({ cores, data: template.folder, signal });
      const helpers = { ...NO_HELPERS, database: one.pid, databaseUrl: one.url };
      return { env: { DATABASE_URL: one.url }, helpers, close: one.stop };
    },
    close: template.stop,
  };
}

/** Begins the names of all databases that runs make in a Postgres of the user; their owner follows. */
const NAME = "http_benchmark_";

/** Databases in a Postgres that runs already; its CPU time is not measured. */
async function given(url: string, signal: AbortSignal, scale?: number): Promise<Databases> {
  const sql = new SQL({ url, max: 1 });
  const urlOf = (name: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const made = new Set<string>();
  const create = async (name: string, template: string) => {
    made.add(name);
    await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${template}`).catch((cause: Error) => {
      throw new UsageError(`DATABASE_URL: its user cannot create a database (${cause.message}): name a user who can`);
    });
    const helpers = { ...NO_HELPERS, databaseUrl: urlOf(name) };
    return { env: { DATABASE_URL: urlOf(name) }, helpers, close: () => drop(name) };
  };
  const drop = async (name: string) => {
    await sql.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    made.delete(name);
  };
  const close = async () => {
    try {
      for (const name of made) await drop(name);
    } finally {
      await sql.close();
    }
  };
  const template = NAME + SHORT_OWNER;
  let copies = 0;
  try {
    await dropLeft(sql);
    const filled = await create(template, "template0");
    await fill(filled.env.DATABASE_URL, signal, scale);
  } catch (error) {
    await close().catch(() => {}); // the first error says more
    throw error;
  }
  return { open: () => create(`${template}_${++copies}`, template), close };
}

/** Drops the databases of runs that were killed. */
async function dropLeft(sql: SQL): Promise<void> {
  // If it fails, the first CREATE says why.
  const all: { datname: string }[] = await sql.unsafe("SELECT datname FROM pg_database").catch(() => []);
  const left = all.filter(({ datname }) => datname.startsWith(NAME) && hasEnded(datname.slice(NAME.length)));
  for (const { datname } of left) {
    // It may belong to another user of Postgres, or another run drops it.
    const isDropped = await sql.unsafe(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`).then(
      () => true,
      () => false,
    );
    if (isDropped) console.error(`dropped the database ${datname}, left by a run that was killed`);
  }
}

/** By its environment, because other users of this machine can read the password on a command line. */
const fill = (url: string, signal: AbortSignal, scale?: number) =>
  createdb(scale === undefined ? ["--postgres"] : ["--tpcb", "--scale", String(scale)], signal, { DATABASE_URL: url });

/** A store behind a pooler; the pooler stops first. */
async function pooled(store: ServerStore, cores: string | undefined, signal: AbortSignal): Promise<ServerStore> {
  const pooler = await startPooler(store.env.DATABASE_URL as string, cores, signal).catch((error) =>
    endAfter(error, store.close()),
  );
  return {
    env: { DATABASE_URL: pooler.url },
    helpers: { ...store.helpers, pooler: pooler.pid },
    close: () => thenEnd(pooler.stop, () => [store.close()]),
  };
}

/** A store whose balances are checked when it closes. */
const audited = (store: ServerStore): ServerStore => ({
  ...store,
  close: () =>
    thenEnd(
      () => audit(store.env.DATABASE_URL as string),
      () => [store.close()],
    ),
});

/** @throws UsageError if a transaction was lost, made twice or left half done. */
async function audit(url: string): Promise<void> {
  const sql = new SQL({ url, max: 1 });
  try {
    const [sums] = await sql.unsafe(SUMS);
    if (new Set(Object.values(sums)).size === 1) return;
    throw new UsageError(`balances and history do not add up: ${JSON.stringify(sums)}: the server is wrong`);
  } finally {
    await sql.close();
  }
}

async function createdb(args: string[], signal: AbortSignal, env: Record<string, string> = {}): Promise<void> {
  const { code, stderr } = await run(["bun", "createdb.ts", ...args], { signal, env });
  if (code !== 0) throw new UsageError(stderr.trim());
}
