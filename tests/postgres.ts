import { afterAll, beforeAll } from "bun:test";
import { SQL } from "bun";
import { type Postgres, startPostgres } from "../bench/run/stores/postgres.ts";

/** One temporary Postgres for a `describe`; each server gets its own user. */
export interface SharedPostgres {
  readonly postgres: Postgres;
  readonly sql: SQL;
  /** @returns the URL of a new user with its own schema, which is faster than a new database. */
  newUser(username: string): Promise<string>;
}

/** Runs a Postgres during the tests of a `describe`. @returns a function that returns it */
export function sharedPostgres(): () => SharedPostgres {
  let shared: SharedPostgres;
  beforeAll(async () => {
    const postgres = await startPostgres();
    const sql = new SQL(postgres.url, { max: 1 });
    await sql.unsafe("ALTER DATABASE postgres SET synchronous_commit = off");
    const newUser = async (username: string) => {
      const { password } = new URL(postgres.url);
      await sql.unsafe(`CREATE USER "${username}" PASSWORD '${password}'; CREATE SCHEMA AUTHORIZATION "${username}"`);
      return Object.assign(new URL(postgres.url), { username }).href;
    };
    shared = { postgres, sql, newUser };
  });
  afterAll(async () => {
    await shared.sql.close();
    await shared.postgres.stop();
  });
  return () => shared;
}

/** Runs one query over a new connection. */
export async function ask(url: string, query: string): Promise<Record<string, unknown>[]> {
  const sql = new SQL(url, { max: 1 });
  try {
    return await sql.unsafe(query);
  } finally {
    await sql.close();
  }
}
