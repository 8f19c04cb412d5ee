/** The answers of /tx, and balances that match the history even if processes are killed or frozen. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { SQL } from "bun";
import { family } from "../../bench/host/proc.ts";
import { pgbouncerVersion, startPooler } from "../../bench/run/stores/pooler.ts";
import { type Postgres, startPostgres } from "../../bench/run/stores/postgres.ts";
import { WAITS } from "../../shared/drivers/drivers.ts";
import type { Transfer } from "../../shared/tpcb/schema.ts";
import { SUMS } from "../../shared/tpcb/tables.ts";
import { makeDatabase, must, type Server, scratch, startServer, stopServer, testIf, until } from "../harness.ts";
import { headersOf, rawHeaders } from "../http.ts";
import { ask } from "../postgres.ts";

const WRITERS = 10;
/** Seconds that a busy machine may add. */
const LATE = 20;
const linux = process.platform === "linux";
const DB_FILE = makeDatabase(`${scratch()}/data.db`, 10);

export interface Cell {
  readonly SERVER: string;
  readonly POSTGRES_CLIENT: string;
  readonly POSTGRES_TX?: string;
  readonly POSTGRES_PREPARE?: string;
  readonly POSTGRES_POOL?: string;
}
interface CellServer extends Server {
  readonly name: string;
}
interface Answer {
  /** 0 if there was none. */
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | null;
}

async function answerOf(url: string, init?: RequestInit): Promise<Answer> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout((WAITS.answer + LATE) * 1e3) });
    const retryAfter = response.headers.get("retry-after");
    return { status: response.status, text: await response.text(), retryAfter };
  } catch (error) {
    return { status: 0, text: String(error), retryAfter: null };
  }
}

const post = ({ url }: Server, body: unknown, type = "application/json") =>
  answerOf(`${url}/tx`, {
    method: "POST",
    headers: { "content-type": type },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const get = ({ url }: Server, query: object) =>
  answerOf(`${url}/tx?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))}`);
const error = (status: number, error: string) => ({ status, text: JSON.stringify({ error }), retryAfter: null });

let lastAid = 0;

type Sent = Transfer & Answer & { readonly by: string };

/** Starts writers, each transaction on a new account; they end on `stop`, or if their server ends. */
function work(servers: readonly CellServer[]) {
  const sent: Sent[] = [];
  let [going, goal] = [true, Number.POSITIVE_INFINITY];
  /** Server -> answers with 200 since the last call of `done`. */
  const right = new Map(servers.map((server) => [server, 0]));
  const isOver = ({ child }: CellServer) => child.exitCode !== null || child.signalCode !== null;
  const hasEnough = (server: CellServer) => (right.get(server) as number) >= goal;
  const write = async (server: CellServer) => {
    while (going && !isOver(server)) {
      // All write to one branch: if commits are slow, fast servers would block the slowest for ever.
      if (hasEnough(server)) {
        await sleep(20);
        continue;
      }
      const aid = ++lastAid;
      const transfer = { aid, tid: 1 + (aid % 10), bid: 1, delta: (aid % 10_001) - 5_000 };
      const answer = await post(server, transfer);
      sent.push({ ...transfer, ...answer, by: server.name });
      if (answer.status === 200) right.set(server, (right.get(server) as number) + 1);
      else await sleep(20);
    }
  };
  const ended = Promise.all(servers.flatMap((server) => Array.from({ length: WRITERS }, () => write(server))));
  return {
    sent,
    /** Waits until each server has done `least` more; then all continue. */
    async done(least: number): Promise<void> {
      for (const server of servers) right.set(server, 0);
      goal = least;
      await until(() => {
        for (const server of servers) if (isOver(server)) throw new Error(`the server ended: ${server.output()}`);
        return servers.every(hasEnough);
      });
      goal = Number.POSITIVE_INFINITY;
      await sleep(50);
    },
    /** Waits until each server has answered 503 once more. */
    async refused(): Promise<void> {
      const before = sent.length;
      await until(() => {
        const by = new Set(sent.slice(before).flatMap((one) => (one.status === 503 ? [one.by] : [])));
        return servers.every(({ name }) => by.has(name));
      });
    },
    async stop(): Promise<void> {
      going = false;
      await ended;
    },
  };
}
type Work = ReturnType<typeof work>;

/** A transaction with a 200 is in the history once, any other at most once, and the balances match the history. */
async function expectBooked(url: string, sent: readonly Sent[]): Promise<void> {
  const [sums] = await ask(url, SUMS);
  expect(new Set(Object.values(sums as object)).size).toBe(1);
  const rows = await ask(url, "SELECT aid, delta FROM pgbench_history");
  const booked = Map.groupBy(rows, ({ aid }) => aid as number);
  const wrong = sent.filter(({ aid, delta, status }) => {
    const of = booked.get(aid) ?? [];
    return of.length > 1 || (of[0] ? of[0].delta !== delta : status === 200);
  });
  expect(wrong).toEqual([]);
}

const isRight = ({ status, retryAfter }: Answer) => status === 200 || (status === 503 && retryAfter === "1");

const nameOf = (cell: Cell) => Object.values(cell).join(" ");

/** Each client as it is, then with the function, then without prepared statements. */
export const inAllWays = (alone: readonly Cell[]): Cell[] => [
  ...alone,
  ...alone.map((cell) => ({ ...cell, POSTGRES_TX: "function" })),
  ...alone.map((cell) => ({ ...cell, POSTGRES_PREPARE: "false" })),
];

/**
 * Call in a `describe`.
 * @param alone each client of Postgres once @param cells all servers whose answers are tested
 * @returns a function that returns the URL of a database, and one that creates a database
 */
export function tpcbSuite(alone: readonly Cell[], cells: readonly Cell[]) {
  let postgres: Postgres;
  const running: Server[] = [];
  beforeAll(async () => {
    postgres = await startPostgres();
    await newDatabase("tpcb");
    const env = { DATABASE_URL: urlOf("tpcb") };
    expect(must(["bun", "createdb.ts", "--tpcb", "--scale", "1"], env)).toBe(
      `${env.DATABASE_URL.replace(/\/\/.*@/, "//")}: 1 rows in pgbench_branches, 10 rows in pgbench_tellers, 100000 rows in pgbench_accounts`,
    );
  });
  afterAll(async () => {
    await Promise.all(running.map(stopServer));
    await postgres.stop();
  });

  const urlOf = (database: string) => Object.assign(new URL(postgres.url), { pathname: database }).href;
  const newDatabase = async (name: string, template = "template1") => {
    await ask(postgres.url, `CREATE DATABASE ${name} TEMPLATE ${template}`);
    return urlOf(name);
  };
  const start = async (cell: Cell, database: string) => {
    const server = await startServer({ STORE: "postgres", DATABASE_URL: database, DB_FILE, ...cell });
    running.push(server);
    return { ...server, name: nameOf(cell) };
  };

  describe("answers", () => {
    let url: string;
    beforeAll(async () => {
      url = await newDatabase("answers", "tpcb");
    });

    test.each(cells.map((cell, i) => [nameOf(cell), cell, i] as const))("%s", async (_, cell, i) => {
      const server = await start(cell, url);
      const aid = 99_000 + i;
      const transfer = { aid, tid: 3, bid: 1, delta: 100 };
      const before = await ask(url, "SELECT count(*) FROM pgbench_history");

      expect(await post(server, transfer)).toEqual({ status: 200, text: '{"abalance":100}', retryAfter: null });
      expect(await get(server, { ...transfer, delta: -130 })).toMatchObject({ status: 200, text: '{"abalance":-30}' });
      expect(await post(server, { ...transfer, delta: 0 })).toMatchObject({ status: 200, text: '{"abalance":-30}' });
      const history = await ask(url, `SELECT * FROM pgbench_history WHERE aid = ${aid} ORDER BY mtime`);
      expect(history.map(({ mtime, ...row }) => row)).toEqual(
        [100, -130, 0].map((delta) => ({ tid: 3, bid: 1, aid, delta, filler: "x".repeat(22) })),
      );

      for (const missing of [{ aid: 100_001 }, { tid: 11 }, { bid: 2 }]) {
        expect(await post(server, { ...transfer, ...missing })).toEqual(error(404, "not found"));
        expect(await get(server, { ...transfer, ...missing })).toEqual(error(404, "not found"));
      }
      expect(await post(server, "{")).toEqual(error(400, "the body is not valid JSON"));
      expect(await post(server, transfer, "text/plain")).toMatchObject({ status: 415 });
      expect(await post(server, { aid, tid: 1, bid: 1 })).toEqual(
        error(422, "the body must have required property 'delta'"),
      );
      expect(await post(server, { ...transfer, more: 1 })).toEqual(
        error(422, "the body must NOT have additional properties more"),
      );
      for (const [change, says] of [
        [{ delta: "1" }, "delta must be integer"],
        [{ delta: 1.5 }, "delta must be integer"],
        [{ aid: null }, "aid must be integer"],
        [{ aid: 0 }, "aid must be >= 1"],
        [{ bid: 2 ** 31 }, "bid must be <= 2147483647"],
        [{ delta: 5_001 }, "delta must be <= 5000"],
      ] as const) {
        expect(await post(server, { ...transfer, ...change })).toEqual(error(422, says));
      }
      for (const text of ["", "0", "01", "1.0", "1e1", "x", "2147483648", "99999999999"]) {
        const says = `aid must be an integer from 1 to 2147483647, not ${JSON.stringify(text)}`;
        expect(await get(server, { ...transfer, aid: text })).toEqual(error(400, says));
      }
      expect(await answerOf(`${server.url}/tx?aid=1&tid=1&bid=1`)).toEqual(
        error(400, 'delta must be an integer from -5000 to 5000, not ""'),
      );
      for (const method of ["PUT", "DELETE"])
        expect(await answerOf(`${server.url}/tx`, { method })).toEqual(error(404, "not found"));

      await ask(url, `UPDATE pgbench_accounts SET abalance = 2147483647 WHERE aid = ${aid}`);
      expect(await post(server, transfer)).toEqual(error(409, "a balance would be too large"));
      await ask(url, `UPDATE pgbench_accounts SET abalance = -30 WHERE aid = ${aid}`);

      for (const [status, ...asked] of [
        [200, "POST", "/tx", JSON.stringify({ ...transfer, delta: 0 })],
        [200, "GET", `/tx?aid=${aid}&tid=3&bid=1&delta=0`],
        [404, "POST", "/tx", JSON.stringify({ ...transfer, tid: 11 })],
      ] as const) {
        const [method, path, body] = asked;
        const headers = await rawHeaders(server.port, path, method, body);
        expect([asked, ...headers]).toEqual([asked, status, ...headersOf(cell.SERVER, status)]);
      }
      const after = await ask(url, "SELECT count(*) FROM pgbench_history");
      expect(Number(after[0]?.count) - Number(before[0]?.count)).toBe(5);
      await expectBooked(url, []);
      expect(server.output()).toBe("");
      await stopServer(server);
    });

    test("404 if the store is not Postgres; 503 and one line in the log without the tables", async () => {
      const without = await startServer({
        ...alone[0],
        STORE: "sqlite",
        CONTENT_FILE: `${scratch()}/content.db`,
        DB_FILE,
      });
      expect(await post(without, { aid: 1, tid: 1, bid: 1, delta: 1 })).toEqual(error(404, "not found"));
      await stopServer(without);
      const empty = await newDatabase("empty");
      for (const POSTGRES_TX of ["statements", "function"]) {
        const server = await start({ ...(alone[0] as Cell), POSTGRES_TX }, empty);
        expect(await post(server, { aid: 1, tid: 1, bid: 1, delta: 1 })).toMatchObject({
          status: 503,
          retryAfter: "1",
        });
        await until(() => server.output() !== "");
        expect(server.output()).toBe("DATABASE_URL has no tables of pgbench: make them with: bun createdb.ts --tpcb\n");
        await stopServer(server);
      }
    });
  });

  test("after a deadlock the server retries its transaction", async () => {
    const url = await newDatabase("deadlocks", "tpcb");
    // Postgres checks each wait once, after deadlock_timeout: in 2 s the other session waits too.
    await ask(url, "ALTER DATABASE deadlocks SET deadlock_timeout = '2s'");
    for (const [i, cell] of alone.entries()) {
      const server = await start(cell, url);
      const other = new SQL(url, { max: 1 });
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = 'deadlocks' AND wait_event_type = 'Lock'";
      await other.unsafe("SET deadlock_timeout = '1h'");
      await other.unsafe("BEGIN");
      await other.unsafe("UPDATE pgbench_branches SET filler = 'x'");
      const answer = post(server, { aid: 1, tid: 1, bid: 1, delta: 1 });
      await until(async () => (await ask(postgres.url, waiting)).length > 0);
      await other.unsafe("UPDATE pgbench_accounts SET filler = 'x' WHERE aid = 1");
      await other.unsafe("COMMIT");
      await other.close();
      expect([cell, await answer]).toEqual([cell, { status: 200, text: `{"abalance":${i + 1}}`, retryAfter: null }]);
      expect(server.output()).toBe("");
      await stopServer(server);
    }
    const deadlocks = async () => {
      const [row] = await ask(postgres.url, "SELECT deadlocks FROM pg_stat_database WHERE datname = 'deadlocks'");
      return Number(row?.deadlocks) >= alone.length; // more if a retry meets a deadlock too
    };
    await until(deadlocks);
    await expectBooked(url, []);
  });

  /** Stops the writers and checks their answers. @returns what they sent */
  const collect = async ({ stop, sent }: Work, isAllowed: (answer: Answer) => boolean) => {
    await stop();
    expect(sent.filter((answer) => !isAllowed(answer))).toEqual([]);
    return sent;
  };
  const MORE = 3 * WRITERS;

  test.each(["read committed", "repeatable read"])("%s: 200 or 503 under load, sums match", async (isolation) => {
    const name = isolation.replace(" ", "_");
    const url = await newDatabase(name, "tpcb");
    await ask(url, `ALTER DATABASE ${name} SET default_transaction_isolation = '${isolation}'`);
    const loaded = inAllWays(alone).slice(0, 2 * alone.length);
    const servers = await Promise.all(loaded.map((cell) => start({ ...cell, POSTGRES_POOL: "2" }, url)));
    const works = work(servers);
    await works.done(WRITERS);
    await expectBooked(url, await collect(works, isRight));
    for (const server of servers) {
      expect(server.output()).toBe("");
      await stopServer(server);
    }
  });

  const signal = (name: string) => spawnSync("kill", [`-${name}`, ...family(postgres.pid as number).map(String)]);

  testIf(linux, "only Linux lists the children of a process", "kills and freezes: all sums match", async () => {
    const url = await newDatabase("killed", "tpcb");
    const sent: Sent[] = [];
    const startAll = () => Promise.all(alone.map((cell) => start(cell, url)));
    const doomed = await startAll();
    const cut = work(doomed);
    await cut.done(MORE);
    for (const { pid } of doomed) process.kill(pid, "SIGKILL");
    sent.push(...(await collect(cut, (answer) => isRight(answer) || answer.status === 0)));
    await expectBooked(url, sent);

    const servers = await startAll();
    for (const outage of [
      async () => {
        for (const name of ["STOP", "KILL"]) signal(name);
        await postgres.stopServer();
        await sleep(500);
        await postgres.startServer();
      },
      async ({ refused }: Work) => {
        signal("STOP");
        await refused();
        signal("CONT");
      },
    ]) {
      const works = work(servers);
      await works.done(MORE);
      await outage(works);
      await works.done(MORE); // by the same servers
      sent.push(...(await collect(works, isRight)));
      await expectBooked(url, sent);
    }
    for (const server of servers) expect(server.output()).toBe("");
  });

  const isHere = linux && pgbouncerVersion() !== null;
  testIf(
    isHere,
    "pgbouncer 1.24 or later is not installed",
    "behind a pooler that is frozen and killed: all sums match",
    async () => {
      const database = await newDatabase("pooled", "tpcb");
      const pooler = await startPooler(database, undefined, new AbortController().signal);
      try {
        const cells = inAllWays(alone).map((cell) => ({ ...cell, POSTGRES_POOL: "2" }));
        const servers = await Promise.all(cells.map((cell) => start(cell, pooler.url)));
        const sent: Sent[] = [];
        const works = work(servers);
        await works.done(WRITERS);
        process.kill(pooler.pid as number, "SIGSTOP");
        await works.refused();
        process.kill(pooler.pid as number, "SIGCONT");
        await works.done(WRITERS); // by the same servers
        process.kill(pooler.pid as number, "SIGKILL");
        await works.refused();
        sent.push(...(await collect(works, isRight)));
        await expectBooked(database, sent);
        for (const server of servers) {
          expect(server.output()).toBe("");
          await stopServer(server);
        }
      } finally {
        await pooler.stop();
      }
    },
  );

  return { urlOf, newDatabase };
}
