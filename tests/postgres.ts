import { afterAll, beforeAll } from "bun:test";
import { SQL } from "bun";
import { type Postgres, startPostgres } from "../bench/run/stores/postgres.ts";

/** A throw-away Postgres of a `describe`, of which servers get users. */
export interface SharedPostgres {
  readonly postgres: Postgres;
  readonly sql: SQL;
  /** @returns the URL of a user with tables of its own: a database of its own takes forty times as long. */
  newUser(username: string): Promise<string>;
}

/** Starts it before the tests of a `describe`, and stops it after them. @returns what asks for it in a test */
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

/** Asks one thing over a connection of its own. */
export async function ask(url: string, query: string): Promise<Record<string, unknown>[]> {
  const sql = new SQL(url, { max: 1 });
  try {
    return await sql.unsafe(query);
  } finally {
    await sql.close();
  }
}
