/**
 * A wrong setting: the server prints one line with the remedy, exits 1 and does not listen. Only a wrong address depends
 * on the adapter, so one server per runtime tests the other settings.
 */
import { describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CLIENTS } from "../../shared/drivers/drivers.ts";
import { descriptorsOf, finish, run, SERVERS, scratch, startServer, stopServer, until } from "../harness.ts";
import { database, expectRefused, garbage, MISTAKES, type Mistake, missing, OF_LISTENING } from "./config-suite.ts";

const folder = scratch();
const unmade = join(folder, "unmade", "content.db");

const OF_PROCESSES: readonly Mistake[] = [
  [{ DB_FILE: missing, WORKERS: "2" }, /no database at/],
  [{ SQLITE_DRIVER: "sqlite9" }, /SQLITE_DRIVER is "sqlite9": on \w+ set it to one of .*better-sqlite3 node:sqlite/],
];
const OF_STORES: readonly Mistake[] = [
  [{ STORE: "redis" }, /^STORE is "redis": set it to one of sqlite memory postgres$/],
  [
    { STORE: "memory", WORKERS: "2" },
    /^WORKERS is 2, but workers cannot share a store in memory: set STORE to postgres, or to sqlite with a file in /,
  ],
  [{ CONTENT_FILE: ":memory:", WORKERS: "2" }, /^WORKERS is 2, but workers cannot share a store in memory/],
  [{ SQLITE_JOURNAL: "WAL" }, /^SQLITE_JOURNAL is "WAL": set it to one of wal delete$/],
  [{ SQLITE_SYNCHRONOUS: "2" }, /^SQLITE_SYNCHRONOUS is "2": set it to one of normal full off extra$/],
  [{ POSTGRES_CLIENT: "mysql" }, /^POSTGRES_CLIENT is "mysql": on \w+ set it to one of .*pg postgres$/],
  [{ POSTGRES_POOL: "0" }, /^POSTGRES_POOL is "0": set it to an integer from 1 to 1000$/],
  [{ POSTGRES_PREPARE: "1" }, /^POSTGRES_PREPARE is "1": set it to one of true false$/],
  [{ POSTGRES_TX: "cte" }, /^POSTGRES_TX is "cte": set it to one of statements function$/],
  [
    { STORE: "sqlite", CONTENT_FILE: unmade },
    /^CONTENT_FILE ".*unmade\/content.db" cannot be written \(.+\): set it to a/,
  ],
  [{ STORE: "sqlite", CONTENT_FILE: unmade, WORKERS: "2" }, /^CONTENT_FILE ".*" cannot be written/],
  [{ STORE: "sqlite", CONTENT_FILE: garbage }, /garbage.db" cannot be written \(file is not a database\)/],
];
const OF_RUNTIME: Record<string, readonly Mistake[]> = {
  "bun-raw": [...MISTAKES, ...OF_PROCESSES, ...OF_STORES, ...CLIENTS.bun.map(unreachable)],
  "node-raw": [
    ...MISTAKES,
    ...OF_PROCESSES,
    ...OF_STORES,
    ...CLIENTS.node.map(unreachable),
    [{ POSTGRES_CLIENT: "bun:sql" }, /^POSTGRES_CLIENT is "bun:sql": on node set it to one of pg postgres$/],
  ],
};

function unreachable(client: string): Mistake {
  const env = { STORE: "postgres", POSTGRES_CLIENT: client, DATABASE_URL: "postgres://me:secret@127.0.0.1:1/my" };
  return [env, /^postgres:\/\/127.0.0.1:1\/my cannot be used \(.+\): start Postgres, or fix DATABASE_URL$/];
}

for (const server of SERVERS) {
  test(`${server} rejects bad settings`, () => expectRefused(server, [...OF_LISTENING, ...(OF_RUNTIME[server] ?? [])]));
}

test.each(SERVERS)("%s without STORE runs while CONTENT_FILE cannot be written, and uses it later", async (name) => {
  const file = join(folder, `${name}.db`);
  writeFileSync(file, "not a database");
  const server = await startServer({ SERVER: name, DB_FILE: database, CONTENT_FILE: file });
  try {
    const create = () =>
      fetch(`${server.url}/content`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ title: "A title", body: "Some text", author: "Ann" }),
      });
    for (const answer of [await create(), await fetch(`${server.url}/content`), await fetch(`${server.url}/users`)]) {
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
      expect(await answer.json()).toEqual({ error: "the store cannot be reached" });
    }
    await until(() => server.output().split("\n").length > 3);
    expect(server.output()).toMatch(
      new RegExp(`^(CONTENT_FILE "${file}" cannot be written \\(.+\\): set it .*\n){3}$`),
    );
    for (const path of ["/", "/plain", "/sqlite/random-5fields/1", "/openapi.json"]) {
      expect((await fetch(server.url + path)).status).toBe(200);
    }
    if (process.platform === "linux") expect(descriptorsOf(server.pid, file)).toEqual([]);
    rmSync(file);
    expect((await create()).status).toBe(201);
  } finally {
    await stopServer(server);
  }
});

describe("SERVER", () => {
  for (const name of ["", "nope", "bun", "bun-raw2", "node-", ".*"]) {
    test(`"${name}" is refused; the message lists the ten names`, async () => {
      const { code, output } = await finish(["sh", "servers/start.sh"], { SERVER: name });
      expect([code, output]).toEqual([1, `SERVER is "${name}": set it to one of ${SERVERS.join(" ")}\n`]);
    });
  }

  test("bun start prints the same messages", async () => {
    const program = run(["bun", "start"], { SERVER: "node-raw", PORT: "70000" });
    expect((await program.ended).code).toBe(1);
    expect(program.output()).toContain('PORT is "70000"');
  });

  test("a server on the wrong runtime is refused", async () => {
    const { code, output } = await finish(["bun", "servers/main.ts", "express"], { SERVER: "node-express" });
    expect([code, output]).toEqual([
      1,
      "SERVER=node-express does not run on bun: start it with: SERVER=node-express bun start\n",
    ]);
  });
});
