/** The answers of /tx, and balances that match the history even if processes are killed or frozen. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { SQL } from "bun";
import { family } from "../../bench/host/proc.ts";
import { startPooler } from "../../bench/run/stores/pooler.ts";
import { type Postgres, startPostgres } from "../../bench/run/stores/postgres.ts";
import { WAITS } from "../../shared/drivers/drivers.ts";
import type { Transfer } from "../../shared/tpcb/schema.ts";
import { SUMS } from "../../shared/tpcb/tables.ts";
import { makeDatabase, must, needs, type Server, scratch, startServer, stopServer, testIf, until } from "../harness.ts";
import { type Answer, answerOf, type Exchange, expectHeaders } from "../http.ts";
import { ask } from "../postgres.ts";
import type { Strictness } from "../strictness.ts";

const WRITERS = 10;
/** Seconds by which a busy machine may delay an answer. */
const LATE = 20;
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
const WITHIN_MS = (WAITS.answer + LATE) * 1e3;

const post = ({ url }: Server, body: unknown, type = "application/json") =>
  answerOf(`${url}/tx`, WITHIN_MS, {
    method: "POST",
    keepalive: false, // a server may close an idle connection when the next request arrives
    headers: { "content-type": type },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const get = ({ url }: Server, query: object) =>
  answerOf(
    `${url}/tx?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))}`,
    WITHIN_MS,
  );

let lastAid = 0;

type Sent = Transfer & Answer & { readonly by: string };

/** Starts writers; each transaction uses a new account. They end on `stop`, or if their server ends. */
function work(servers: readonly CellServer[]) {
  const sent: Sent[] = [];
  let [going, goal] = [true, Number.POSITIVE_INFINITY];
  /** Server -> number of answers with 200 since the last call of `done`. */
  const right = new Map(servers.map((server) => [server, 0]));
  const isOver = ({ child }: CellServer) => child.exitCode !== null || child.signalCode !== null;
  const hasEnough = (server: CellServer) => (right.get(server) as number) >= goal;
  const write = async (server: CellServer) => {
    while (going && !isOver(server)) {
      // All write to one branch, so if commits are slow, fast servers would block the slowest forever.
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

interface Cells {
  /** Each client of Postgres once. */
  readonly alone: readonly Cell[];
  /** Each client once, and each client with the function or without prepared statements. */
  readonly ways: readonly Cell[];
  /** Cells of which the suite tests only the answers. */
  readonly others: readonly Cell[];
}

/** Runs in a `describe`. @returns functions that return the URL of a database, and that create one */
export function tpcbSuite({ alone, ways, others }: Cells, strictness: Strictness) {
  const { exact } = strictness;
  let postgres: Postgres;
  let url: string;
  const running: Server[] = [];
  beforeAll(async () => {
    postgres = await startPostgres();
    // Postgres checks for a deadlock once per wait. With 2 s it checks in the server's wait, when the other waits too.
    await configure("deadlock_timeout", "2s");
    const DATABASE_URL = await newDatabase("tpcb");
    expect(must(["bun", "createdb.ts", "--tpcb", "--scale", "1"], { DATABASE_URL })).toBe(
      `${DATABASE_URL.replace(/\/\/.*@/, "//")}: 1 rows in pgbench_branches, 10 rows in pgbench_tellers, 100000 rows in pgbench_accounts`,
    );
    url = await newDatabase("used", "tpcb");
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
  /** Changes a setting for all connections, also for open ones. */
  const configure = async (name: string, value: string) => {
    await ask(postgres.url, `ALTER SYSTEM SET ${name} = '${value}'`);
    await ask(postgres.url, "SELECT pg_reload_conf()");
    await until(async () => (await ask(postgres.url, `SHOW ${name}`))[0]?.[name] === value);
  };
  /** Starts a server with fewer connections than writers. */
  const start = async (cell: Cell, database: string): Promise<CellServer> => {
    const env = { STORE: "postgres", DATABASE_URL: database, DB_FILE, POSTGRES_POOL: "2" };
    const server = await startServer({ ...env, ...cell });
    running.push(server);
    return { ...server, name: nameOf(cell) };
  };
  /** `serverOf` starts a server at the first call for its cell. */
  const started = new Map<Cell, Promise<CellServer>>();
  const serverOf = (cell: Cell): Promise<CellServer> => {
    const server = started.get(cell) ?? start(cell, url);
    started.set(cell, server);
    return server;
  };

  const is = ({ text, ...answer }: Answer) => ({ ...answer, body: strictness.body(text) });
  const done = (abalance: number) => ({ status: 200, body: strictness.json({ abalance }), retryAfter: null });
  const error = (status: number, words: string) => ({ status, body: strictness.error(words), retryAfter: null });

  describe("answers", () => {
    test.each([...ways, ...others].map((cell, i) => [nameOf(cell), cell, i] as const))("%s", async (_, cell, i) => {
      const server = await serverOf(cell);
      const aid = 99_000 + i;
      const transfer = { aid, tid: 3, bid: 1, delta: 100 };
      const before = await ask(url, "SELECT count(*) FROM pgbench_history");
      /** Only the ten servers have GET, for load generators that send no bodies. */
      const sends = exact ? [post, get] : [post];
      const send = exact ? get : post;

      expect(is(await post(server, transfer))).toEqual(done(100));
      expect(is(await send(server, { ...transfer, delta: -130 }))).toEqual(done(-30));
      expect(is(await post(server, { ...transfer, delta: 0 }))).toEqual(done(-30));
      const history = await ask(url, `SELECT * FROM pgbench_history WHERE aid = ${aid} ORDER BY mtime`);
      expect(history.map(({ mtime, ...row }) => row)).toEqual(
        [100, -130, 0].map((delta) => ({ tid: 3, bid: 1, aid, delta, filler: "x".repeat(22) })),
      );

      for (const missing of [{ aid: 100_001 }, { tid: 11 }, { bid: 2 }]) {
        for (const send of sends)
          expect(is(await send(server, { ...transfer, ...missing }))).toEqual(error(404, "not found"));
      }
      expect(is(await post(server, "{"))).toEqual(error(400, "the body is not valid JSON"));
      expect(is(await post(server, transfer, "text/plain"))).toMatchObject({ status: 415 });
      for (const [body, says] of [
        [{ aid, tid: 1, bid: 1 }, "the body must have required property 'delta'"],
        [{ ...transfer, more: 1 }, "the body must NOT have additional properties more"],
        [{ ...transfer, aid: null }, "aid must be integer"],
        [{ ...transfer, aid: 0 }, "aid must be >= 1"],
        [{ ...transfer, bid: 2 ** 31 }, "bid must be <= 2147483647"],
        [{ ...transfer, delta: 5_001 }, "delta must be <= 5000"],
      ] as const) {
        expect([says, is(await post(server, body))]).toEqual([says, error(422, says)]);
      }

      if (exact) {
        for (const delta of ["1", 1.5])
          expect(is(await post(server, { ...transfer, delta }))).toEqual(error(422, "delta must be integer"));
        for (const text of ["", "0", "01", "1.0", "1e1", "x", "2147483648", "99999999999"]) {
          const says = `aid must be an integer from 1 to 2147483647, not ${JSON.stringify(text)}`;
          expect(is(await get(server, { ...transfer, aid: text }))).toEqual(error(400, says));
        }
        expect(is(await answerOf(`${server.url}/tx?aid=1&tid=1&bid=1`, WITHIN_MS))).toEqual(
          error(400, 'delta must be an integer from -5000 to 5000, not ""'),
        );
        for (const method of ["PUT", "DELETE"])
          expect(is(await answerOf(`${server.url}/tx`, WITHIN_MS, { method }))).toEqual(error(404, "not found"));
        await ask(url, `UPDATE pgbench_accounts SET abalance = 2147483647 WHERE aid = ${aid}`);
        expect(is(await post(server, transfer))).toEqual(error(409, "a balance would be too large"));
        await ask(url, `UPDATE pgbench_accounts SET abalance = -30 WHERE aid = ${aid}`);
      }

      const requests: Exchange[] = [
        [200, "POST", "/tx", JSON.stringify({ ...transfer, delta: 0 })],
        [404, "POST", "/tx", JSON.stringify({ ...transfer, tid: 11 })],
      ];
      if (exact) requests.push([200, "GET", `/tx?aid=${aid}&tid=3&bid=1&delta=0`]);
      for (const asked of requests) await expectHeaders(strictness, { name: cell.SERVER, port: server.port }, asked);
      const after = await ask(url, "SELECT count(*) FROM pgbench_history");
      expect(Number(after[0]?.count) - Number(before[0]?.count)).toBe(exact ? 5 : 4);
      await expectBooked(url, []);
      expect(server.output()).toBe("");
    });

    if (!exact) return;
    test("without the tables the server prints one line", async () => {
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

  test("if two transactions wait for each other, one is rolled back and tried again", async () => {
    const servers = await Promise.all(alone.map(serverOf));
    const one = async (server: CellServer, i: number) => {
      const [aid, tid] = [98_001 + i, 1 + i];
      const other = new SQL(url, { max: 1 });
      await other.unsafe("SET deadlock_timeout = '1h'");
      await other.unsafe("BEGIN");
      const [{ pid }] = await other.unsafe("SELECT pg_backend_pid() AS pid");
      await other.unsafe(`UPDATE pgbench_tellers SET filler = 'x' WHERE tid = ${tid}`);
      const answer = post(server, { aid, tid, bid: 1, delta: 1 });
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE ${pid} = ANY(pg_blocking_pids(pid))`;
      await until(async () => (await ask(postgres.url, waiting)).length > 0);
      await other.unsafe(`UPDATE pgbench_accounts SET filler = 'x' WHERE aid = ${aid}`);
      await other.unsafe("COMMIT");
      await other.close();
      expect([server.name, is(await answer)]).toEqual([server.name, done(1)]);
      expect(server.output()).toBe("");
    };
    await Promise.all(servers.map(one));
    const deadlocks = async () => {
      const [row] = await ask(postgres.url, "SELECT deadlocks FROM pg_stat_database WHERE datname = 'used'");
      return Number(row?.deadlocks) >= alone.length; // more if the second attempt has a deadlock too
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

  // "repeatable read" rolls back more transactions.
  const isolations = exact ? ["read committed", "repeatable read"] : ["repeatable read"];
  test.each(isolations)("under load, %s: 200 or 503, and all adds up", async (isolation) => {
    await configure("default_transaction_isolation", isolation);
    const servers = await Promise.all(ways.slice(0, 2 * alone.length).map(serverOf));
    const works = work(servers);
    await works.done(WRITERS);
    await expectBooked(url, await collect(works, isRight));
    for (const server of servers) expect(server.output()).toBe("");
    await configure("default_transaction_isolation", "read committed");
  });

  const signal = (name: string) => spawnSync("sh", ["-c", `kill -${name} ${family(postgres.pid as number).join(" ")}`]);

  testIf(...needs("linux"), "killed and frozen, all adds up", async () => {
    const sent: Sent[] = [];
    const servers = await Promise.all(alone.map(serverOf));
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

    const works = work(servers);
    await works.done(MORE);
    for (const { pid } of servers) process.kill(pid, "SIGKILL");
    sent.push(...(await collect(works, (answer) => isRight(answer) || answer.status === 0)));
    await expectBooked(url, sent);
  });

  testIf(...needs("linux", "pgbouncer"), "behind a pooler that is frozen and killed: all sums match", async () => {
    const database = await newDatabase("pooled", "tpcb");
    const pooler = await startPooler(database, undefined, new AbortController().signal);
    try {
      // For the ten servers, each client in one of its ways, in turn.
      const inTurn = (_: Cell, i: number) => ways[i + ((i * alone.length) % ways.length)] as Cell;
      const cells = exact ? alone.map(inTurn) : alone;
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
  });

  return { urlOf, newDatabase };
}
