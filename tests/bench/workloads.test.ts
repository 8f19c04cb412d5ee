/** bench.sh --workload: servers that keep contents and users, started with stores of their own, and what is left of those. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { ON_DISK } from "../../bench/host/folders.ts";
import { SHORT_OWNER } from "../../bench/host/owner.ts";
import { text } from "../../bench/host/proc.ts";
import { median } from "../../bench/judge/statistics.ts";
import { type Postgres, startPostgres } from "../../bench/run/stores/postgres.ts";
import { openStores } from "../../bench/run/stores/stores.ts";
import { watchWaits } from "../../bench/run/stores/waits.ts";
import { clocksOf } from "../../bench/run/targets/target.ts";
import {
  bench,
  describeIf,
  finish,
  left,
  makeDatabase,
  needs,
  needsOf,
  type Program,
  resultsIn,
  rowsOf,
  run,
  scratch,
  startServer,
  stopServer,
  testIf,
  until,
} from "../harness.ts";
import { ask } from "../postgres.ts";

const folder = scratch();
const newFile = resultsIn(folder);
/** Folders with stores of a run. */
const foldersOf = ({ pid }: Program) => readdirSync(ON_DISK).filter((name) => name.includes(`-${pid}-`));
const STEPS = ["1 POST", "2 GET", "3 PUT", "4 GET", "5 DELETE", "6 GET 404"];

test("servers begin with the content items of createdb.ts, whatever content.db has", async () => {
  const stores = openStores(new AbortController().signal);
  const files = await Promise.all(
    [1, 2].map(async () => (await stores.open({ STORE: "sqlite" }, undefined)).env.CONTENT_FILE as string),
  );
  for (const file of files) {
    const db = new Database(file, { readonly: true });
    const rows = (table: string) => (db.query(`SELECT count(*) AS rows FROM ${table}`).get() as { rows: number }).rows;
    expect([rows("content"), rows("user")]).toEqual([100_000, 100]);
    db.close();
  }
  expect(new Set(files).size).toBe(2);
  await stores.close();
  expect(files.filter((file) => existsSync(file))).toEqual([]);
});

describeIf(...needs("postgres", "k6"), "bench.sh --workload content", () => {
  test("SQLite, memory and Postgres in one run: sequences and their steps, and nothing left", async () => {
    const file = newFile();
    const servers = "bun-raw,bun-raw@memory,bun-raw@pg+pool=5";
    const program = run(bench(file, "--details", "--workload", "content", "--warmup", "100", "--servers", servers));
    const { code } = await program.ended;
    const output = program.output();
    expect([code, output]).toEqual([0, expect.stringContaining(" slices in ")]);
    const rows = rowsOf(file);
    expect(new Set(rows.map(({ Step }) => Step))).toEqual(new Set(["", ...STEPS]));
    for (const row of rows) expect(row).toMatchObject({ Endpoint: "content", Kind: "closed", "Error Count": "0" });
    const sequences = rows.filter(({ Step }) => Step === "");
    const drivers = { "bun-raw": /^bun:sqlite 3\./, "bun-raw@memory": /^memory$/, "bun-raw@pg+pool=5": /^pg \d/ };
    const cpu = Object.entries(drivers).map(([name, driver]) => {
      const of = sequences.filter(({ Name }) => Name === name);
      for (const row of of) expect(row.Driver ?? "").toMatch(driver);
      return Math.min(...of.map(({ CpuUsPerRequest }) => Number(CpuUsPerRequest)));
    });
    expect(Math.min(...cpu)).toBeGreaterThan(0);
    expect(Number(cpu[2])).toBeGreaterThan(1.5 * Number(cpu[0])); // Postgres' own processes are counted
    // Sequences are counted in the first restart as in the second.
    const costs = rowsOf(file, "windows.csv").filter(({ Name }) => Name === "bun-raw");
    const [first = 0, second = 0] = ["1", "2"].map((restart) =>
      median(
        costs.flatMap(({ Restart, CpuUs, Requests }) => (Restart === restart ? Number(CpuUs) / Number(Requests) : [])),
      ),
    );
    expect(first / second).toBeWithin(0.5, 2);
    const text = output.replaceAll("\n  ", " ");
    expect(text).toContain("content: p50 / p99 of each step, ms");
    expect(text).toMatch(
      /What bun-raw answered survives a crash of the server; .* \(SQLite, journal wal, synchronous normal\)/,
    );
    expect(text).toContain("What bun-raw@memory answered is gone when the server ends.");
    expect(text).toMatch(/memory vs bun:sqlite on Bun +[−+]\d+ %|content: not ranked/);
    await until(() => foldersOf(program).length === 0);
  });

  testIf(...needs("pgbouncer"), "--workload tpcb: transactions by each client, whose balances add up", async () => {
    const file = newFile();
    const bun = "bun-raw+pooler=pgbouncer";
    const node = "node-raw@postgres+tx=function+prepare=false";
    const servers = [bun, node];
    const program = run(
      bench(file, "--details", "--workload", "tpcb", "--warmup", "100", "--scale", "1", "--servers", servers.join()),
    );
    const { code } = await program.ended;
    expect([code, program.output()]).toEqual([0, expect.stringContaining(" slices in ")]);
    const rows = rowsOf(file);
    for (const { DatabaseBytes } of rows) expect(Number(DatabaseBytes)).toBeGreaterThan(1e6);
    for (const { CpuUs, DatabaseUs, PoolerUs, Name } of rowsOf(file, "windows.csv")) {
      expect(Number(DatabaseUs)).toBeGreaterThan(0);
      expect(Number(PoolerUs) > 0).toBe((Name as string).includes("pooler"));
      expect(Number(DatabaseUs) + Number(PoolerUs)).toBeLessThan(Number(CpuUs));
    }
    expect(program.output()).toContain("pooler and database. CPU time above includes theirs");
    expect(program.output()).toMatch(/wait for locks +wait for the server +deadlocks/);
    for (const { Deadlocks } of rows) expect(Deadlocks).toBe("0");
    expect(new Set(rows.map(({ Endpoint }) => Endpoint))).toEqual(new Set(["POST /tx"]));
    for (const row of rows) expect(row).toMatchObject({ "Error Count": "0" });
    const drivers = new Set(rows.map(({ Name, Driver = "" }) => `${Name}: ${Driver.split(" ")[0]}`));
    expect(drivers).toEqual(new Set([`${bun}: bun:sql`, `${node}: postgres`]));
    expect(program.output().replaceAll("\n  ", " ")).toContain("(Postgres with synchronous_commit, its default)");
    await until(() => foldersOf(program).length === 0);
  });

  test("what connections wait for", async () => {
    const stores = openStores(new AbortController().signal, 1);
    try {
      const store = await stores.open({ STORE: "postgres" }, undefined);
      const url = store.helpers.databaseUrl as string;
      const [holder, waiter] = [new SQL({ url, max: 1 }), new SQL({ url, max: 1 })];
      const change = "UPDATE pgbench_branches SET filler = 'x'";
      await holder.unsafe("BEGIN");
      await holder.unsafe(change);
      const waiting = waiter.unsafe(change).then(() => {});
      await until(
        async () => (await ask(url, "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).length > 0,
      );
      const waited = await watchWaits(url);
      await Bun.sleep(500);
      expect(await waited()).toEqual({ lockWaiters: 1, idleInTransaction: 1, deadlocks: 0 });
      await holder.unsafe("COMMIT");
      await waiting;
      await Promise.all([holder.close(), waiter.close()]);
      const gone = await watchWaits(url);
      await store.close();
      expect(await gone()).toBeNull();
    } finally {
      await stores.close();
    }
  });

  test("connections that end count as well", async () => {
    const stores = openStores(new AbortController().signal, 1);
    const idle = Bun.spawn(["sleep", "100"]);
    try {
      const { helpers, close } = await stores.open({ STORE: "postgres" }, undefined);
      const url = helpers.databaseUrl as string;
      const work = "SELECT count(*) FROM generate_series(1, 200000)";
      const clocks = clocksOf(idle.pid, null, helpers);
      const costOf = async (many: () => Promise<void>) => {
        const before = clocks.database?.cpuUs() as number;
        await many();
        await until(() => clocks.database?.isBusy() === false);
        return (clocks.database?.cpuUs() as number) - before;
      };
      const sql = new SQL({ url, max: 1 });
      await sql.unsafe(work);
      const kept = await costOf(async () => {
        for (let i = 0; i < 20; i++) await sql.unsafe(work);
      });
      await sql.close();
      const ended = await costOf(async () => {
        for (let i = 0; i < 20; i++) await ask(url, work);
      });
      expect(ended).toBeGreaterThan(0.8 * kept);
      await close();
    } finally {
      idle.kill();
      await stores.close();
    }
  });

  test("balances that do not add up end the run", async () => {
    const left = () => readdirSync(ON_DISK).filter((name) => name.includes(`-postgres-${process.pid}-`)).length;
    const before = left();
    const stores = openStores(new AbortController().signal, 1);
    try {
      const [right, wrong] = [
        await stores.open({ STORE: "postgres" }, undefined),
        await stores.open({ STORE: "postgres" }, undefined),
      ];
      const sql = new SQL({ url: wrong.env.DATABASE_URL as string, max: 1 });
      await sql.unsafe("UPDATE pgbench_accounts SET abalance = 7 WHERE aid = 1");
      await sql.close();
      await right.close();
      await expect(wrong.close()).rejects.toThrow(
        'balances and history do not add up: {"accounts":"7","tellers":"0","branches":"0","history":"0"}',
      );
    } finally {
      await stores.close();
    }
    expect(left() - before).toBeLessThan(2); // one is kept, to copy
  });

  test("Ctrl-C leaves whole rows, no process and no data", async () => {
    const file = newFile();
    for (const moment of ["restart 0: machine speed", "a slice"]) {
      const before = rowsOf(file).length;
      const args = ["--workload", "content", "--servers", "bun-raw@pg,bun-raw"];
      const program = run(bench(file, ...args), { MARKER: moment });
      const isReached = () => program.output().includes(moment) || rowsOf(file).length > before;
      await until(() => (isReached() && foldersOf(program).length > 0) || program.child.exitCode !== null);
      program.child.kill("SIGINT");
      const { code } = await program.ended;
      expect([code, program.output()]).toEqual([130, expect.any(String)]);
      await until(() => left(moment).length === 0);
      await until(() => foldersOf(program).length === 0);
    }
    for (const row of rowsOf(file)) expect(Number(row.Requests)).toBeGreaterThan(0);
  });

  test("a Postgres that runs already is used, and has no more databases afterwards", async () => {
    const server = await startPostgres();
    try {
      const file = newFile();
      const args = ["--workload", "users", "--endpoints", "POST /users", "--servers", "node-raw@postgres"];
      const { code, output } = await finish(bench(file, ...args), { DATABASE_URL: server.url });
      expect([code, output]).toEqual([0, expect.stringContaining(" slices in ")]);
      const sql = new SQL({ url: server.url, max: 1 });
      const databases: { datname: string }[] = await sql.unsafe("SELECT datname FROM pg_database ORDER BY 1");
      await sql.close();
      expect(databases.map(({ datname }) => datname)).toEqual(["postgres", "template0", "template1"]);
    } finally {
      await server.stop();
    }
  });
});

describeIf(...needs("postgres"), "a Postgres of the user", () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  /** Databases that runs have made there. */
  const made = async () => {
    const all = await ask(server.url, "SELECT datname FROM pg_database WHERE datname LIKE 'http%' ORDER BY 1");
    return all.map(({ datname }) => datname as string);
  };
  /** Starts a run, and waits until it fills its database. */
  const filling = async () => {
    const program = run(bench(newFile(), "--workload", "users", "--servers", "bun-raw@pg"), {
      DATABASE_URL: server.url,
    });
    await until(async () => (await made()).length > 0 || program.child.exitCode !== null);
    return program;
  };

  test("Ctrl-C while its database is filled leaves none, and ps shows no password", async () => {
    const program = await filling();
    const { password } = new URL(server.url);
    const commands = () => readdirSync("/proc").map((pid) => text(`/proc/${pid}/cmdline`));
    await until(
      () => commands().some((one) => /createdb\.ts\0.*postgres/.test(one)) || program.child.exitCode !== null,
    );
    const shown = commands().filter((one) => one.includes(password));
    program.child.kill("SIGINT");
    expect([(await program.ended).code, program.output()]).toEqual([130, expect.stringContaining("stopped; ")]);
    expect(await made()).toEqual([]);
    expect(shown).toEqual([]);
  });

  test("the next run drops the databases of a killed one, and no others", async () => {
    const program = await filling();
    program.child.kill("SIGKILL");
    await program.ended;
    const killed = await made();
    expect(killed).toHaveLength(1);
    const [pid = "", begun = "", here = ""] = SHORT_OWNER.split("_");
    const elsewhere = here.replace(/./, (digit) => (digit === "0" ? "1" : "0"));
    const others = [`${SHORT_OWNER}_7`, [pid, Number(begun) + 1, elsewhere].join("_"), `${pid}_1`, "of_mine"];
    const ended = [pid, Number(begun) + 1, here, 1000].join("_"); // the process id was used again
    for (const owner of [...others, ended]) await ask(server.url, `CREATE DATABASE http_benchmark_${owner}`);
    process.env.DATABASE_URL = server.url;
    const stores = openStores(new AbortController().signal);
    try {
      await stores.open({ STORE: "postgres" }, undefined);
      const own = [SHORT_OWNER, `${SHORT_OWNER}_1`];
      expect(await made()).toEqual([...others, ...own].map((owner) => `http_benchmark_${owner}`).sort());
      expect(Math.max(...(await made()).map((name) => name.length))).toBeLessThan(64);
    } finally {
      delete process.env.DATABASE_URL;
      await stores.close();
    }
    // The store that is still open is dropped as well.
    expect(await made()).toEqual(others.map((owner) => `http_benchmark_${owner}`).sort());
    for (const name of await made()) await ask(server.url, `DROP DATABASE ${name}`);
  });
});

testIf(...needs("k6"), "a comparison of content items", async () => {
  const args = ["--workload", "content", "--seconds", "6", "--connections", "8", "--warmup", "100"];
  const { code, output } = await finish([
    "./bench.sh",
    "compare",
    "bun-raw@memory",
    "bun-raw",
    ...args,
    "--results",
    newFile(),
  ]);
  expect([code, output]).toEqual([0, expect.stringMatching(/^bun-raw@memory ÷ bun-raw content: 0\.\d+ \(/m)]);
});

testIf(
  ...needs("k6"),
  "a server that runs already has the contents afterwards that it had before, even at Ctrl-C",
  async () => {
    const server = await startServer({
      SERVER: "bun-hono",
      STORE: "memory",
      DB_FILE: makeDatabase(join(folder, "data.db"), 10),
    });
    const contents = async () => (await fetch(`${server.url}/content?limit=100`)).json();
    try {
      const draft = JSON.stringify({ title: "kept", body: "kept", author: "kept" });
      const headers = { "content-type": "application/json" };
      await fetch(`${server.url}/content`, { method: "POST", headers, body: draft });
      const before = await contents();
      expect(before.items).toHaveLength(1);
      const program = run(bench(newFile(), "--workload", "content", "--seconds", "3", server.url));
      await until(() => program.output().includes("restart 1 ") || program.child.exitCode !== null);
      await until(async () => (await contents()).items.length > 1);
      program.child.kill("SIGINT");
      expect((await program.ended).code).toBe(130);
      expect(await contents()).toEqual(before);
    } finally {
      await stopServer(server);
    }
  },
);

test("--workload users: lists and inserts, and what a setting costs", async () => {
  const file = newFile();
  const servers = ["", "+journal=delete+synchronous=full", "+file=:memory:"].map((settings) => `bun-raw${settings}`);
  const program = run(bench(file, "--details", "--workload", "users", "--servers", servers.join()));
  const { code } = await program.ended;
  const output = program.output();
  expect([code, output]).toEqual([0, expect.stringContaining(" slices in ")]);
  const rows = rowsOf(file);
  expect(new Set(rows.map(({ Endpoint }) => Endpoint))).toEqual(new Set(["/users", "POST /users"]));
  for (const row of rows) expect(row).toMatchObject({ "Error Count": "0" });
  const inserts = (name: string) =>
    Math.max(
      ...rows.filter((row) => row.Name === name && row.Endpoint === "POST /users").map(({ QPS }) => Number(QPS)),
    );
  expect(inserts("bun-raw")).toBeGreaterThan(inserts(servers[1] as string));
  const text = output.replaceAll("\n  ", " ");
  // A server that still changes is in no choice.
  if (!text.includes("Not warm"))
    expect(text).toContain("journal=delete, synchronous=full vs the default with bun:sqlite ");
  expect(text).toMatch(/What bun-raw\+file=:memory: answered is gone when the server ends/);
  await until(() => foldersOf(program).length === 0);
});

const MISTAKES: [args: string[], problem: string][] = [
  [["--workload", "nothing"], "error: option '--workload <name>' argument 'nothing' is invalid"],
  [
    ["--workload", "users", "http://127.0.0.1:1"],
    '"POST /users" adds rows permanently, so it requires a server started here',
  ],
  [["--endpoints", "content"], '"content" writes to the store: give --workload content, with'],
  [["--workload", "content", "--docker"], "--workload content starts servers on this machine"],
  [["--endpoints", "POST /tx"], '"POST /tx" writes to the store: give --workload tpcb'],
  [["--workload", "content", "--start", "my-app=true"], "--workload content needs the content API of the matrix"],
  [
    ["compare", "bun-raw", "http://127.0.0.1:1", "--workload", "tpcb"],
    "--workload tpcb loads servers started here only",
  ],
  [["--workload", "tpcb", "--servers", "bun-raw+idle=2"], '"idle=2" of "bun-raw+idle=2" is none of journal='],
  [["--workload", "tpcb", "--servers", "bun-raw@memory"], "/tx needs Postgres: add @ and one of bun:sql pg postgres"],
  [["--workload", "tpcb", "--servers", "node-raw@node:sqlite"], "/tx needs Postgres: add @ and one of pg postgres"],
  [["--workload", "tpcb", "--servers", "ruby-rails"], "ruby-rails has no /tx: leave it out of this workload"],
  [
    ["--workload", "tpcb", "--servers", "bun-raw+pooler=x"],
    '"pooler=x" of "bun-raw+pooler=x" is none of pgbouncer: correct it',
  ],
  [
    ["--workload", "users", "--servers", "bun-raw+pooler=pgbouncer"],
    "a pooler needs Postgres: add @ and a Postgres client",
  ],
  [["--servers", "bun-raw+journal=wal"], '"journal=wal" of "bun-raw+journal=wal" is none of journal='],
  [["--workload", "users", "--servers", "bun-raw+speed=1"], '"speed=1" of "bun-raw+speed=1" is none of journal='],
  [["--workload", "users", "--servers", "bun-raw+journal=off"], 'SQLITE_JOURNAL is "off": set it to one of wal delete'],
];
for (const [args, problem] of MISTAKES) {
  testIf(...needs(...needsOf(args)), `${args.join(" ")} is refused in one line`, async () => {
    const { code, output } = await finish(bench(newFile(), ...args));
    expect([code, output]).toEqual([1, expect.stringContaining(problem)]);
  });
}
