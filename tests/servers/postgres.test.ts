/** The temporary PostgreSQL that the benchmark starts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { family } from "../../bench/host/proc.ts";
import { type Postgres, startPostgres } from "../../bench/run/stores/postgres.ts";
import type { Connect } from "../../shared/contract.ts";
import { CLIENTS, driver, type Runtime, WAITS } from "../../shared/drivers/drivers.ts";
import {
  describeIf,
  finish,
  makeDatabase,
  needs,
  run,
  type Server,
  scratch,
  startServer,
  stopServer,
  testIf,
  until,
} from "../harness.ts";
import { ask } from "../postgres.ts";

const MODULE = join(import.meta.dir, "../../bench/run/stores/postgres.ts");
const linux = process.platform === "linux";
const folder = scratch();
/** Ignores zombies, which their parent has not reaped yet, because they have no command line. */
function isAlive(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
}

/** Writes a program that imports startPostgres. */
function script(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, `import { startPostgres } from ${JSON.stringify(MODULE)};\n${text}\n`);
  return file;
}

describeIf(...needs("postgres"), "postgres", () => {
  let postgres: Postgres;
  const extra: Postgres[] = [];
  const started = async (...options: Parameters<typeof startPostgres>) => {
    const one = await startPostgres(...options);
    extra.push(one);
    return one;
  };
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => Promise.all([postgres, ...extra].map((one) => one.stop())));

  test("a client writes and reads", async () => {
    await ask(postgres.url, "CREATE TABLE people (name text)");
    await ask(postgres.url, "INSERT INTO people VALUES ('Bjørn')");
    expect([...(await ask(postgres.url, "SELECT name FROM people"))]).toEqual([{ name: "Bjørn" }]);
  });

  test("durability is the default; text is UTF-8 and sorted by code point", async () => {
    const settings = ["fsync", "synchronous_commit", "full_page_writes", "server_encoding", "max_connections"];
    const values = settings.map((name) => `current_setting('${name}') AS ${name}`).join();
    const [row] = await ask(postgres.url, `SELECT ${values}, 'Z' < 'a' AS bytes, version()`);
    expect(row).toMatchObject({
      fsync: "on",
      synchronous_commit: "on",
      full_page_writes: "on",
      server_encoding: "UTF8",
      max_connections: "300",
      bytes: true,
      version: expect.stringMatching(/^PostgreSQL \d+/),
    });
  });

  test("it requires its password, and listens on 127.0.0.1 only", async () => {
    const change = (part: "password" | "hostname", value: string) =>
      Object.assign(new URL(postgres.url), { [part]: value }).href;
    await expect(ask(change("password", "wrong"), "SELECT 1")).rejects.toThrow("password authentication failed");
    await expect(ask(change("password", ""), "SELECT 1")).rejects.toThrow();
    const others = Object.values(networkInterfaces()).flatMap((addresses = []) =>
      addresses.filter(({ address, family }) => family === "IPv4" && address !== "127.0.0.1"),
    );
    for (const address of [...others.map(({ address }) => address), ...(linux ? ["127.0.0.2"] : [])]) {
      await expect(ask(change("hostname", address), "SELECT 1")).rejects.toMatchObject({
        code: "ERR_POSTGRES_CONNECTION_REFUSED",
      });
    }
  });

  test("stop leaves no process and no folder", async () => {
    const one = await started({ cores: linux ? "0" : undefined });
    const pids = one.pid === null ? [] : family(one.pid);
    expect(pids.length).toBeGreaterThan(linux ? 3 : -1);
    expect(existsSync(one.folder)).toBe(true);
    await one.stop();
    await one.stop();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(existsSync(one.folder)).toBe(false);
    expect(one.pid).toBeNull();
  });

  test("a kept data folder can start another PostgreSQL", async () => {
    const filled = await started();
    await ask(filled.url, "CREATE TABLE numbers AS SELECT generate_series(1, 1000) AS n");
    await filled.stopServer();
    await expect(ask(filled.url, "SELECT 1")).rejects.toThrow();
    const kept = join(folder, "kept");
    cpSync(filled.folder, kept, { recursive: true });
    await filled.startServer();
    for (const { url } of [filled, await started({ data: kept })]) {
      expect([...(await ask(url, "DELETE FROM numbers WHERE n > 1 RETURNING n"))]).toHaveLength(999);
    }
    expect([...(await ask(postgres.url, "SELECT to_regclass('numbers') AS numbers"))]).toEqual([{ numbers: null }]);
    await expect(startPostgres({ data: folder })).rejects.toThrow(`${folder} is no data folder of startPostgres`);
  });

  test("if the server cannot start, the error is one line", async () => {
    const one = await started();
    await one.stopServer();
    const busy = createServer().listen(Number(new URL(one.url).port), "127.0.0.1");
    await expect(one.startServer()).rejects.toThrow(
      /^PostgreSQL did not start: .*could not create any TCP\/IP sockets$/,
    );
    await until(() => one.pid === null);
    busy.close();
    await until(() => !busy.listening);
    await one.startServer();
    expect([...(await ask(one.url, "SELECT 1 AS one"))]).toEqual([{ one: 1 }]);
    await one.stopServer();
    writeFileSync(join(one.folder, "data", "PG_VERSION"), "7\n");
    await expect(one.startServer()).rejects.toThrow(
      /^PostgreSQL did not start: .*initialized by PostgreSQL version 7.*$/,
    );
  });

  test("an abort signal ends a start", async () => {
    await expect(startPostgres({ signal: AbortSignal.timeout(20) })).rejects.toThrow("timed out");
  });

  testIf(...needs("linux"), "a frozen PostgreSQL gives a 503 in time", async () => {
    const frozen = await started();
    const DB_FILE = makeDatabase(join(folder, "data.db"), 10);
    const kinds = (Object.keys(CLIENTS) as Runtime[]).flatMap((runtime) =>
      CLIENTS[runtime].map((POSTGRES_CLIENT) => ({ SERVER: `${runtime}-raw`, POSTGRES_CLIENT })),
    );
    const env = { STORE: "postgres", DATABASE_URL: frozen.url, DB_FILE };
    const servers = await Promise.all(kinds.map((kind) => startServer({ ...env, ...kind })));
    /** More requests at once than connections. */
    const askAll = async ({ url }: Server) => {
      const since = performance.now();
      const answers = await Promise.all(Array.from({ length: 30 }, () => fetch(`${url}/content`)));
      const says = answers.map(({ status, headers }) => `${status} ${headers.get("retry-after")}`);
      return { says: [...new Set(says)], ms: performance.now() - since };
    };
    try {
      const usual = await Promise.all(servers.map(askAll));
      for (const { says } of usual) expect(says).toEqual(["200 null"]);
      const usualMs = Math.max(...usual.map(({ ms }) => ms)); // long on a slow machine
      const pids = family(frozen.pid as number);
      for (const pid of pids) process.kill(pid, "SIGSTOP");
      try {
        // First on connections that are already open, then on new ones.
        for (const connections of ["open", "new"]) {
          for (const [i, { says, ms }] of (await Promise.all(servers.map(askAll))).entries()) {
            expect([kinds[i], connections, says]).toEqual([kinds[i], connections, ["503 1"]]);
            expect(ms).toBeLessThan((WAITS.answer + 2) * 1e3 + usualMs);
          }
        }
        for (const { url } of servers) expect((await fetch(`${url}/plain`)).status).toBe(200);
      } finally {
        for (const pid of pids) process.kill(pid, "SIGCONT");
      }
      for (const { url, output } of servers) {
        await until(async () => (await fetch(`${url}/content`)).status === 200);
        expect(output()).toBe("");
      }
    } finally {
      await Promise.all(servers.map(stopServer));
    }
  });

  test("Postgres cancels a statement that takes too long, and no other", async () => {
    await Promise.all(
      CLIENTS.bun.map(async (client) => {
        const connect = await driver<Connect>(client);
        const { query, close } = connect({ url: postgres.url, pool: 2, prepare: true });
        const slow = query("slow", "SELECT pg_sleep($1)", [3 * WAITS.statement]).then(
          () => "slept",
          ({ code, errno }) => errno ?? code,
        );
        expect((await query("quick", "SELECT $1::int AS one", [1])).rows).toEqual([{ one: 1 }]);
        expect([client, await slow]).toEqual([client, "57014"]);
        await close();
      }),
    );
  });

  test.each(["SIGKILL", "its end"] as const)("a process leaves no processes or folders after %s", async (how) => {
    const temporary = join(folder, how);
    mkdirSync(temporary);
    for (const path of [folder, temporary]) chmodSync(path, 0o755); // the server may run as another user
    const end = how === "its end" ? "await postgres.stop();" : "";
    const file = script(`${how}.ts`, `const postgres = await startPostgres(); console.log(postgres.pid); ${end}`);
    const parent = run([process.execPath, file], { TMPDIR: temporary });
    await until(() => parent.output().includes("\n"));
    const root = Number(parent.output());
    expect(root).toBeGreaterThan(0);
    const pids = linux ? family(root) : [];
    if (how !== "its end") parent.child.kill(how);
    await parent.ended;
    await until(() => !pids.some(isAlive) && readdirSync(temporary).length === 0);
  });
});

test("without PostgreSQL one line names the remedies", async () => {
  const file = script(
    "missing.ts",
    "await startPostgres({ search: [] }).catch((error) => console.log(error.message));",
  );
  const { output } = await finish([process.execPath, file], { PATH: folder });
  expect(output).toBe("there is no PostgreSQL: name one by DATABASE_URL, or install the package postgresql\n");
});
