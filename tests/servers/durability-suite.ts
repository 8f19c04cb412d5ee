/**
 * Acknowledged writes survive. The tests kill servers during writes, stop and kill Postgres, fill a disk, hold a lock.
 * Long form: `LONG=1 ./test.sh tests/servers/durability.test.ts`
 */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server as NetServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SimpleFaker } from "@faker-js/faker";
import { SQL } from "bun";
import { ulid } from "ulid";
import { freePort } from "../../bench/host/free-port.ts";
import { family } from "../../bench/host/proc.ts";
import { type Postgres, startPostgres } from "../../bench/run/stores/postgres.ts";
import { readIdentity } from "../../bench/run/targets/target.ts";
import { describeIf, needs, run, type Server, START, scratch, startServer, testIf, until, works } from "../harness.ts";
import { type Answer as Answered, answerOf } from "../http.ts";
import { ask as query } from "../postgres.ts";

const LONG = process.env.LONG === "1";
export const WRITERS = 100;
const IDS_EACH = 5;
/** Longer than SQLite waits for a lock (5 s) and than a Postgres client waits for an answer (7 s). */
export const HANG_MS = 8_000;
const RECOVERY_MS = 2_000;
const CALM_MS = LONG ? 1_500 : 500;
const AWAY_MS = [0, LONG ? HANG_MS + 2_000 : 500];
/** How often the tests kill a group of servers, and Postgres. */
const KILLS = LONG ? 20 : 1;

export const linux = process.platform === "linux";
export const never = new AbortController().signal;
const folder = scratch();
const faker = new SimpleFaker();
const oneOf = <T>(values: readonly T[]): T => faker.helpers.arrayElement(values);

/** Titles that an id may have, undefined if it does not exist: the last acknowledged one, then unanswered ones. */
type States = (string | undefined)[];
type Ledger = Map<string, States>;

const newLedger = (writers = WRITERS): Ledger =>
  new Map(Array.from({ length: writers * IDS_EACH }, () => [ulid(), [undefined]]));

/** Some texts fit into one page of a database file, others do not. */
const textOf = (title: string) => title.repeat(1 + (title.charCodeAt(25) % 16) * 8);
const titleOf = ({ title, body }: Draft) => (body === textOf(title) ? title : `torn: ${title}`);
type Draft = { readonly title: string; readonly body: string };

interface Answer extends Answered {
  readonly method: string;
  readonly ms: number;
  readonly at: number;
}

export async function ask(url: string, method: string, path: string, body?: object): Promise<Answer> {
  const since = performance.now();
  const json = body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const answer = await answerOf(url + path, HANG_MS, { method, ...json });
  const at = performance.now();
  return { method, ...answer, ms: at - since, at };
}

type Says = (answer: Answer, before: States, title: string | undefined) => States | false;

/** Status -> the states that are possible after it; false if this answer is wrong. */
const SAYS: Readonly<Record<number, Says>> = {
  200: ({ method, text }, before, title) => {
    const kept = titleOf(JSON.parse(text));
    return method === "GET" ? before.includes(kept) && before : before.some(Boolean) && kept === title && [title];
  },
  201: ({ text }, before, title) => before.includes(undefined) && titleOf(JSON.parse(text)) === title && [title],
  204: (_, before) => before.some(Boolean) && [undefined],
  404: ({ method }, before) => method !== "POST" && before.includes(undefined) && [undefined],
  409: ({ method }, before) => method === "POST" && before.some(Boolean) && before.filter(Boolean),
  503: ({ retryAfter }, before, title) => retryAfter !== null && [...before, title],
  507: ({ method }, before, title) => method !== "GET" && [...before, title],
};

const draft = (title: string) => ({ title, body: textOf(title), author: "a" });

/** Reads or writes one content, and notes the possible states. */
async function use(url: string, id: string, ledger: Ledger): Promise<Answer & { readonly right: boolean }> {
  const before = ledger.get(id) as States;
  const method = oneOf(before[0] === undefined ? ["POST", "POST", "GET"] : ["PUT", "PUT", "DELETE", "GET"]);
  const title = method === "DELETE" ? undefined : ulid();
  const body = { POST: { id, ...draft(title ?? "") }, PUT: draft(title ?? "") }[method];
  if (method !== "GET") ledger.set(id, [...before, title]);
  const answer = await ask(url, method, method === "POST" ? "/content" : `/content/${id}`, body);
  const states = SAYS[answer.status]?.(answer, before, title) ?? false;
  if (states && method !== "GET") ledger.set(id, states);
  return { ...answer, right: states !== false };
}

/** Starts writers, each with its own ids; they end on `stop`, or if they get no answer. */
function work(url: string, ledger: Ledger) {
  const answers: Awaited<ReturnType<typeof use>>[] = [];
  const ids = [...ledger.keys()];
  let going = true;
  const write = async (_: unknown, writer: number) => {
    while (going) {
      const answer = await use(url, oneOf(ids.slice(writer * IDS_EACH, (writer + 1) * IDS_EACH)), ledger);
      answers.push(answer);
      if (answer.status === 0) return;
      if (answer.status >= 500) await sleep(20);
    }
  };
  const ended = Promise.all(Array.from({ length: ids.length / IDS_EACH }, write));
  const stop = async () => {
    going = false;
    await ended;
  };
  return { answers, ended, stop };
}

/** @returns contents in a state that the ledger excludes: lost, torn or unexpected. */
async function losses(url: string, ledger: Ledger): Promise<string[]> {
  const kept = new Map<string, string>();
  for (let after: string | null = ""; after !== null; ) {
    const page: { items: (Draft & { id: string })[]; next: string | null } = JSON.parse(
      (await ask(url, "GET", `/content?limit=100&after=${after}`)).text,
    );
    for (const item of page.items) kept.set(item.id, titleOf(item));
    after = page.next;
  }
  const ids = [...new Set([...ledger.keys(), ...kept.keys()])];
  const lost = ids.filter((id) => !ledger.get(id)?.includes(kept.get(id)));
  const told = lost.map((id) => `${id}: ${kept.get(id)}, not ${ledger.get(id)}`);
  for (const id of ledger.keys()) ledger.set(id, [kept.get(id)]);
  return told;
}

const wrongOf = (answers: readonly (Answer & { right: boolean })[]) =>
  answers.filter(({ right }) => !right).map(({ method, status, text, ms }) => `${method} ${status} ${ms} ms ${text}`);
const isWrite = ({ method, status }: Answer) => method !== "GET" && status >= 200 && status < 300;

export type Env = Record<string, string>;

const running = new Set<Server>();

export async function start(env: Env): Promise<Server> {
  const server = await startServer(env);
  running.add(server);
  return server;
}

/** Stops a process and its children before it kills them, so that no process reacts to the end of another. */
export function kill(pid: number): void {
  const pids = linux ? family(pid) : [pid];
  for (const signal of ["-STOP", "-KILL"]) spawnSync("sh", ["-c", `kill ${signal} ${pids.join(" ")}`]);
}

export async function end(server: Server): Promise<void> {
  running.delete(server);
  kill(server.pid);
  await server.ended;
}
afterAll(() => Promise.all([...running].map(end)));

const summary: Record<string, Record<string, number>> = {};
const add = (name: string, counts: Record<string, number>) => {
  const row = summary[name] ?? {};
  summary[name] = row;
  for (const [key, count] of Object.entries(counts)) row[key] = (row[key] ?? 0) + count;
};
afterAll(() => {
  if (LONG) console.table(summary);
});

/** Kills a server while it writes and starts it again on the same data, on one platform after the other. */
async function killAgainAndAgain(
  name: string,
  envs: readonly Env[],
  most: number,
  check: () => unknown,
): Promise<void> {
  const ledger = newLedger();
  for (let kills = 0; ; kills++) {
    const server = await start(envs[kills % envs.length] as Env);
    expect([name, kills, await losses(server.url, ledger), await check()]).toEqual([name, kills, [], "ok"]);
    if (kills === most) return end(server);
    const { answers, ended } = work(server.url, ledger);
    const enough = faker.number.int({ min: WRITERS, max: 6 * WRITERS });
    await until(() => answers.length > enough);
    await end(server);
    await ended;
    const cut = answers.filter(({ status }) => status === 0);
    expect(wrongOf(answers.filter(({ status }) => status !== 0))).toEqual([]);
    expect(cut.length).toBeGreaterThan(0);
    add(name, { kills: 1, acknowledged: answers.filter(isWrite).length, cut: cut.length });
  }
}

/** Servers that store content items with one driver or client. */
export interface Group {
  readonly name: string;
  /** The driver, or client. */
  readonly by: string;
  /** Each server starts on the data of the previous one. */
  readonly envs: readonly Env[];
}
/** A server that runs with others while a disk is full or Postgres is down. */
export interface Kind {
  readonly SERVER: string;
  readonly by: string;
  /** It uses the other journal mode, or a proxy in front of Postgres. */
  readonly odd: boolean;
}

const sqlite = (driver: string, journal: string, file: string): Env => ({
  STORE: "sqlite",
  SQLITE_DRIVER: driver,
  SQLITE_JOURNAL: journal,
  CONTENT_FILE: file,
});

function integrity(file: string): unknown {
  const db = new Database(file);
  try {
    return (db.query("PRAGMA integrity_check").get() as { integrity_check: string }).integrity_check;
  } finally {
    db.close();
  }
}

/** @param together servers that run at the same time, on SQLite and on Postgres */
export function durabilitySuite(
  groups: { readonly sqlite: readonly Group[]; readonly postgres: readonly Group[] },
  together: { readonly sqlite: readonly Kind[]; readonly postgres: readonly Kind[] },
  journals = ["wal", "delete"],
): void {
  describe("SQLite", () => {
    for (const { by, name, envs } of groups.sqlite) {
      describe(name, () => {
        test(`killed servers with ${by} lose nothing`, async () => {
          const one = (journal: string, i: number) => {
            const file = join(folder, `${name}-${by}-${journal}.db`);
            const order = [...envs.slice(i), ...envs.slice(0, i)];
            const all = order.map((env) => ({ ...env, ...sqlite(by, journal, file) }));
            return killAgainAndAgain(`${name} ${by} ${journal}`, all, KILLS, () => integrity(file));
          };
          await Promise.all(journals.map(one));
        });
      });
    }

    describe("all drivers at once", () => {
      const disk = join(folder, "disk");
      const root = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
      mkdirSync(disk);
      const mount = () => works(...root, "mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", disk);
      const unmount = () => works(...root, "umount", "--lazy", disk);
      const mountable = linux && mount() && unmount();
      const kinds = together.sqlite.map(({ SERVER, by, odd }) => {
        const journal = odd ? "delete" : "wal";
        const file = join(disk, `${SERVER}-${by}-${journal}.db`);
        return { name: `${SERVER} ${by} ${journal}`, file, env: { SERVER, ...sqlite(by, journal, file) } };
      });
      let all: ((typeof kinds)[0] & { server: Server; ledger: Ledger })[];
      beforeAll(async () => {
        if (mountable) mount();
        all = await Promise.all(
          kinds.map(async (kind) => ({ ...kind, server: await start(kind.env), ledger: newLedger(10) })),
        );
      });
      afterAll(async () => {
        await Promise.all(all.map(({ server }) => end(server)));
        if (mountable) unmount();
      });

      test("a write that waits too long for another process gets a 503", async () => {
        await Promise.all(
          all.map(async ({ file, server }) => {
            const content = { id: ulid(), ...draft(ulid()) };
            const other = new Database(file);
            other.run("BEGIN IMMEDIATE");
            const answer = await ask(server.url, "POST", "/content", content);
            expect(answer).toMatchObject({ status: 503, retryAfter: expect.stringMatching(/^\d+$/) });
            expect(await ask(server.url, "GET", "/content")).toMatchObject({ status: 200 });
            other.run("COMMIT");
            other.close();
            expect(await ask(server.url, "POST", "/content", content)).toMatchObject({ status: 201 });
            expect(await ask(server.url, "DELETE", `/content/${content.id}`)).toMatchObject({ status: 204 });
            expect(server.output()).toBe("");
          }),
        );
      });

      testIf(
        mountable,
        "only root can mount a small disk",
        "on a full disk, writes get a 507 and reads succeed",
        async () => {
          expect(mountable).toBe(true); // otherwise this would fill the disk of the machine
          const ballast = join(disk, "ballast");
          const at = all.map(({ server, ledger }) => work(server.url, ledger));
          const more = (count: number, is: (answer: Answer) => boolean) => {
            const before = at.map(({ answers }) => answers.length);
            return until(() => at.every(({ answers }, i) => answers.slice(before[i]).filter(is).length >= count));
          };
          await more(20, isWrite);
          spawnSync("sh", ["-c", `cat /dev/zero > ${ballast}`]);
          await more(20, ({ status }) => status === 507);
          await more(20, ({ method, status }) => method === "GET" && status === 200);
          rmSync(ballast);
          await more(20, isWrite);
          await Promise.all(at.map(({ stop }) => stop()));
          for (const [i, { name, server, ledger, file }] of all.entries()) {
            expect([name, wrongOf(at[i]?.answers ?? []), server.output()]).toEqual([name, [], ""]);
            expect([name, await losses(server.url, ledger), integrity(file)]).toEqual([name, [], "ok"]);
          }
        },
      );
    });
  });

  /** Forwards to `port`. While nothing listens there it accepts and then closes connections, as proxies do. */
  async function proxyOf(port: number) {
    const proxy = createServer((client) => {
      const there = connect(port, "127.0.0.1").on("error", () => client.end());
      client
        .on("error", () => there.destroy())
        .pipe(there)
        .pipe(client);
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    return proxy;
  }

  describeIf(...needs("postgres"), "Postgres", () => {
    let postgres: Postgres;
    beforeAll(async () => {
      postgres = await startPostgres();
    });
    afterAll(() => postgres.stop());

    /** @returns the URL of a new database. */
    const newDatabase = async () => {
      const name = `d${ulid().toLowerCase()}`;
      await query(postgres.url, `CREATE DATABASE ${name}`);
      return Object.assign(new URL(postgres.url), { pathname: name }).href;
    };
    const integrity = async (url: string) => {
      await query(url, "CREATE EXTENSION IF NOT EXISTS amcheck");
      await query(url, "SELECT bt_index_check('content_pkey', true)");
      return "ok";
    };
    const env = (client: string, url: string) => ({ STORE: "postgres", POSTGRES_CLIENT: client, DATABASE_URL: url });

    describe("stops and starts again", () => {
      const GOES: [how: string, first: number, go: () => Promise<void>][] = [
        ["shut down", 0, () => postgres.stopServer()],
        [
          "killed with all its processes",
          1,
          () => {
            kill(postgres.pid as number);
            return postgres.stopServer();
          },
        ],
      ];
      let proxy: NetServer;
      let all: { name: string; server: Server; ledger: Ledger; url: string }[];
      beforeAll(async () => {
        proxy = await proxyOf(Number(new URL(postgres.url).port));
        const { port } = proxy.address() as AddressInfo;
        all = await Promise.all(
          together.postgres.map(async ({ by, SERVER, odd }) => {
            const url = await newDatabase();
            const address = odd ? Object.assign(new URL(url), { port }).href : url;
            const server = await start({ SERVER, ...env(by, address) });
            return { name: `${SERVER} ${by}${odd ? " by a proxy" : ""}`, server, ledger: newLedger(10), url };
          }),
        );
      });
      afterAll(async () => {
        await Promise.all(all.map(({ server }) => end(server)));
        proxy.close();
      });

      /** @returns servers that did not recover within RECOVERY_MS. */
      const outage = async (how: string, go: () => Promise<void>, awayMs: number): Promise<Set<string>> => {
        const at = all.map(({ server, ledger }) => work(server.url, ledger));
        await until(() => at.every(({ answers }) => answers.length > 50));
        await go();
        await sleep(awayMs);
        await postgres.startServer();
        const ready = performance.now();
        const recovered = ({ answers }: (typeof at)[0]) =>
          Math.max(ready, answers.findLast(({ status }) => status >= 500)?.at ?? 0);
        await until(() => at.every((one) => performance.now() - recovered(one) > CALM_MS));
        await Promise.all(at.map(({ stop }) => stop()));
        const late = new Set<string>();
        for (const [i, { name, server, ledger, url }] of all.entries()) {
          const { answers } = at[i] as (typeof at)[0];
          expect([name, wrongOf(answers), server.output()]).toEqual([name, [], ""]);
          expect([name, await losses(server.url, ledger), await integrity(url)]).toEqual([name, [], "ok"]);
          expect((await readIdentity(server.url, never))?.pid).toBe(server.pid);
          const tookMs = recovered(at[i] as (typeof at)[0]) - ready;
          add(`${name} ${how}`, {
            kills: 1,
            acknowledged: answers.filter(isWrite).length,
            refused: answers.filter(({ status }) => status >= 500).length,
          });
          if (tookMs > RECOVERY_MS) late.add(name);
        }
        return late;
      };

      test.each(GOES)("%s", async (how, first, go) => {
        for (let i = first; i < first + KILLS; i++) {
          // Other load on the machine can delay a server, so each server must be in time in one of three attempts.
          let late: string[] = all.map(({ name }) => name);
          for (let attempt = 0; attempt < 3 && late.length > 0; attempt++) {
            const again = await outage(how, go, AWAY_MS[i % 2] as number);
            late = late.filter((name) => again.has(name));
          }
          expect(late).toEqual([]);
        }
      });
    });

    for (const { by, name, envs } of groups.postgres) {
      describe(name, () => {
        test(`killed servers with ${by} lose nothing`, async () => {
          const url = await newDatabase();
          const all = envs.map((one) => ({ ...one, ...env(by, url) }));
          await killAgainAndAgain(`${name} ${by}`, all, KILLS, () => integrity(url));
        });

        test(`a server with ${by} that was killed during a migration migrates at its next start`, async () => {
          const url = await newDatabase();
          const settings = { ...envs[0], ...env(by, url) };
          const other = new SQL(url, { max: 1 });
          await other.unsafe("BEGIN");
          await other.unsafe("CREATE TABLE content (id TEXT)"); // until this is committed, another migration waits
          const waiting = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
          const program = run(START, { ...settings, PORT: String(await freePort()) });
          await until(async () => (await query(url, `SELECT 1 ${waiting}`)).length > 0);
          kill(program.pid);
          await query(url, `SELECT pg_terminate_backend(pid) ${waiting}`);
          await other.close();
          const server = await start(settings);
          expect(await ask(server.url, "POST", "/content", draft(ulid()))).toMatchObject({ status: 201 });
          await end(server);
        });
      });
    }
  });
}
