/** bench.sh as a user runs it, on real servers and short slices. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "csv-parse/sync";
import { lock } from "proper-lockfile";
import { appendSlice, COLUMNS, type Slice } from "../bench/results.ts";
import { freePort } from "../bench/targets/local.ts";
import { finish, run, type Server, scratch, startServer, stopServer, testIf, until, works } from "./harness.ts";

const folder = scratch();
let files = 0;
const newFile = () => join(folder, `results-${++files}.csv`);
const SHORT = ["--seconds", "0.2", "--connections", "8"];
const bench = (file: string, ...args: string[]) => ["./bench.sh", "--results", file, ...SHORT, ...args];
const rowsOf = (file: string): Record<string, string>[] => parse(readFileSync(file), { columns: true });

/** Processes that a bench.sh with this marker in its environment has left. */
function left(marker: string): string[] {
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`MARKER=${marker}`);
      } catch {
        return false;
      }
    })
    .map((pid) => readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " "));
}

test("two servers in turn: rows, table, nothing left running", async () => {
  const file = newFile();
  const { code, output } = await finish(bench(file, "--servers", "node-raw,bun-hono@node:sqlite*2"), {
    MARKER: "turn",
  });
  expect([code, output]).toEqual([0, expect.stringContaining("16 rows of run")]);
  const rows = rowsOf(file);
  expect(readFileSync(file, "utf8")).toStartWith("Name,Endpoint,Requests,Error Count,AvgMs,QPS,");
  expect(rows).toHaveLength(16);
  expect(new Set(rows.map((row) => row.Endpoint)).size).toBe(8);
  for (const row of rows) {
    expect(Object.keys(row)).toEqual(Object.keys(COLUMNS));
    expect(row).toMatchObject({ "Error Count": "0", Connections: "8", Sockets: "8", Kind: "closed" });
    expect(Number(row.Requests)).toBeGreaterThan(0);
    // A closed loop obeys Little's law: requests per second × mean latency = connections.
    expect((Number(row.QPS) * Number(row.AvgMs)) / 1000 / 8).toBeWithin(0.6, 1.05);
    const percentiles = [row.P50Ms, row.P90Ms, row.P99Ms, row.P999Ms].map(Number);
    expect(percentiles).toEqual(percentiles.toSorted((a, b) => a - b));
    expect(Number(row.CpuUsPerRequest)).toBeGreaterThan(0);
    expect(Number(row.RssBytes)).toBeGreaterThan(10e6);
  }
  expect(rows[0]).toMatchObject({
    Name: "node-raw",
    Framework: "raw",
    Workers: "1",
    Runtime: expect.stringMatching(/^node \d/),
  });
  expect(rows[15]).toMatchObject({
    Name: "bun-hono@node:sqlite*2",
    Framework: expect.stringMatching(/^hono \d/),
    Driver: expect.stringMatching(/^node:sqlite 3/),
    Workers: "2",
  });
  for (const name of ["node-raw", "bun-hono@node:sqlite*2", "/html-template"]) expect(output).toContain(name);
  if (process.platform === "linux") expect(left("turn")).toEqual([]);
});

describe("servers that run already", () => {
  let ours: Server;
  let foreign: ReturnType<typeof Bun.serve>;
  let broken: ReturnType<typeof Bun.serve>;
  beforeAll(async () => {
    ours = await startServer({ SERVER: "bun-elysia" });
    foreign = Bun.serve({ port: 0, fetch: () => Response.json({ message: "Hello, world!" }) });
    broken = Bun.serve({ port: 0, fetch: () => new Response("no", { status: 500 }) });
  });
  afterAll(async () => {
    await stopServer(ours);
    await foreign.stop(true);
    await broken.stop(true);
  });
  const urlOf = (server: { port?: number | undefined }) => `http://127.0.0.1:${server.port}`;

  test("each says what it is, or is named, and all go on running", async () => {
    const file = newFile();
    const args = ["--endpoints", "/plain", "--name", ",go-fiber", urlOf(ours), urlOf(foreign)];
    expect((await finish(bench(file, ...args))).code).toBe(0);
    const rows = rowsOf(file);
    expect(rows.map((row) => row.Name)).toEqual(["bun-elysia", "go-fiber"]);
    expect(rows[0]?.Runtime).toStartWith("bun ");
    expect(rows[1]).toMatchObject({ Runtime: "", CpuUsPerRequest: "", Workers: "" });
    expect((await finish(bench(file, "--endpoints", "/plain", `${urlOf(ours)}/`))).code).toBe(0);
    expect(rowsOf(file)).toHaveLength(3);
    expect((await fetch(ours.url)).status).toBe(200);
  });

  test("mistakes are one line, before anything is measured", async () => {
    const closed = `http://127.0.0.1:${await freePort()}`;
    const cases: [string[], string][] = [
      [[closed], `${closed}/ cannot be reached`],
      [[urlOf(ours), closed], `${closed}/ cannot be reached`],
      [[urlOf(foreign)], "does not say what server it is: say it with --name NAME"],
      [["--name", "x", urlOf(broken)], `x answers ${urlOf(broken)}/plain with status 500, not 200`],
      [["--name", "x", "--endpoints", "/sqlite/random-5fields/3", urlOf(foreign)], "rows, not 3"],
      [["--name", "a,b", urlOf(ours)], '--name "b" has no URL'],
      [["ours"], '"ours" is not a URL: write it as http://host:port'],
      [["--servers", "bun-raw", urlOf(ours)], "give one of the two"],
      [["--servers", "koa"], '--servers has "koa": choose from'],
      [["--servers", "node-raw@bun:sqlite"], "on node set it to one of"],
      [["--servers", "node-raw*x"], '--servers has "node-raw*x"'],
      [["--endpoints", "plain"], '--endpoints has "plain": a path starts with /'],
      [["--connections", "1.5"], "'1.5' is invalid"],
      [["--seconds", "long"], "'long' is invalid"],
      [["--results", join(folder, "no/such/file.csv")], "cannot be written"],
    ];
    for (const [args, message] of cases) {
      const file = newFile();
      const { code, output } = await finish(bench(file, ...args));
      expect([args, code, output]).toEqual([args, 1, expect.stringContaining(message)]);
      expect(existsSync(file) ? readFileSync(file, "utf8") : "").toBe("");
    }
  });

  test("errors are counted, and are not goodput", async () => {
    let asked = 0;
    const flaky = Bun.serve({
      port: 0,
      fetch: () =>
        asked++ > 20 && asked % 2 ? new Response("no", { status: 503 }) : Response.json({ message: "Hello, world!" }),
    });
    const file = newFile();
    const { code, output } = await finish(bench(file, "--endpoints", "/plain", "--name", "flaky", urlOf(flaky)));
    await flaky.stop(true);
    expect([code, output]).toEqual([0, expect.stringContaining("flaky")]);
    const [row] = rowsOf(file);
    const errors = Number(row?.["Error Count"]);
    expect(errors / Number(row?.Requests)).toBeWithin(0.3, 0.7);
    expect((Number(row?.QPS) * Number(row?.Seconds)) / (Number(row?.Requests) - errors)).toBeWithin(0.99, 1.01);
  });
});

describe("interrupted", () => {
  for (const [signal, status] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    // While a server starts, while it is warmed, and in the middle of a slice.
    for (const after of ["servers ×", " 1/16]", " 8/16]"]) {
      test(`${signal} after "${after}" leaves whole rows and no process`, async () => {
        const file = newFile();
        const marker = `${signal}${after}`;
        const program = run(bench(file, "--servers", "bun-raw,node-hono"), { MARKER: marker });
        await until(() => program.output().includes(after) || program.child.exitCode !== null);
        program.child.kill(signal);
        expect((await program.ended).code).toBe(status);
        expect(program.output()).toContain(`stopped; what was measured before is in ${file}`);
        for (const row of existsSync(file) ? rowsOf(file) : []) expect(Number(row.Requests)).toBeGreaterThan(0);
        if (process.platform === "linux") expect(left(marker)).toEqual([]);
      });
    }
  }
});

describe("results.csv", () => {
  const slice: Slice = {
    run: "test",
    target: { name: 'a "name", quoted', url: "http://x", identity: null, stop: async () => {} },
    endpoint: "/plain",
    connections: 1,
    load: {
      startedAt: "2026-01-01T00:00:00Z",
      requests: 3,
      errors: 1,
      seconds: 1,
      averageMs: 1.23456789,
      goodput: 2,
      percentilesMs: { 50: 1, 90: 2, 99: 3, 99.9: 4 },
      sockets: 1,
    },
    cpuUsPerRequest: null,
    rssBytes: null,
  };

  test("writers at the same time lose no row and tear none", async () => {
    const file = newFile();
    const script = `const { appendSlice } = await import("./bench/results.ts");
      for (let i = 0; i < 25; i++) await appendSlice(${JSON.stringify(file)}, ${JSON.stringify(slice)});`;
    writeFileSync(file, "");
    const ended = await Promise.all([1, 2, 3, 4].map(() => finish(["bun", "-e", script])));
    expect(ended.map(({ code, output }) => [code, output])).toEqual(new Array(4).fill([0, ""]));
    expect(rowsOf(file)).toHaveLength(100);
  });

  test("a row waits for the writer before it", async () => {
    const file = newFile();
    writeFileSync(file, "");
    const release = await lock(file);
    const appended = appendSlice(file, slice);
    expect(await Promise.race([appended, sleep(300, "waiting")])).toBe("waiting");
    expect(readFileSync(file, "utf8")).toBe("");
    await release();
    await appended;
    expect(rowsOf(file)).toHaveLength(1);
  });

  test("a file without a last newline is not continued on that line", async () => {
    const file = newFile();
    await finish(["sh", "-c", `printf '%s' '${Object.keys(COLUMNS).join()}' > ${file}`]);
    await appendSlice(file, slice);
    expect(rowsOf(file)).toHaveLength(1);
    expect(rowsOf(file)[0]).toMatchObject({ Name: 'a "name", quoted', AvgMs: "1.2346", QPS: "2", CpuUsPerRequest: "" });
  });

  test("a file with other columns is left alone", async () => {
    const file = newFile();
    const before = "Name,Endpoint,Requests,Error Count,AvgMs,QPS\nnode-raw,/plain,37339,0,161,622\n";
    writeFileSync(file, before);
    const { code, output } = await finish(bench(file, "--servers", "bun-raw"));
    expect([code, output]).toEqual([
      1,
      `"${file}" has other columns: move it away, or choose another with --results\n`,
    ]);
    expect(readFileSync(file, "utf8")).toBe(before);
  });
});

/** A PATH with the system's tools and the named ones only. */
function pathWith(name: string, ...tools: string[]): string {
  const bin = join(folder, name);
  mkdirSync(bin);
  for (const tool of [...tools, "sh", "sed", "dirname", "sort", "mkdir", "cat", "chmod", "ln", "uname"]) {
    symlinkSync(Bun.which(tool) as string, join(bin, tool));
  }
  return bin;
}

describe("tools that are missing", () => {
  const setup = (step: string) => ["sh", "-c", `cd ${project}; . bench/setup.sh; ${step}`];
  const project = join(folder, "project");
  beforeAll(() => {
    mkdirSync(join(project, "bench"), { recursive: true });
    for (const file of ["bench/setup.sh", "package.json"]) symlinkSync(join(process.cwd(), file), join(project, file));
  });

  test("no Bun and no npm: what to install", async () => {
    const { code, output } = await finish(setup("setup_bun"), { PATH: pathWith("no-npm") });
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/^Bun [\d.]+ is missing, and so is npm to install it: install/),
    ]);
  });

  test("no fortio, no Go, no Docker: what to install", async () => {
    const { code, output } = await finish(setup("setup_fortio"), { PATH: pathWith("no-go") });
    expect([code, output]).toEqual([
      1,
      expect.stringContaining("fortio is missing, and so are Go and a Docker engine"),
    ]);
  });

  test("an old Bun is not used", async () => {
    const bin = pathWith("old-bun");
    writeFileSync(join(bin, "bun"), "#!/bin/sh\necho 1.0.0\n", { mode: 0o755 });
    const { code, output } = await finish(setup("setup_bun"), { PATH: bin });
    expect([code, output]).toEqual([1, expect.stringContaining("is missing, and so is npm")]);
  });

  testIf(works("npm", "--version"), "npm is missing", "Bun comes from npm", async () => {
    const path = `${pathWith("npm", "node", "npm", "env")}${delimiter}/usr/bin${delimiter}/bin`;
    const { code, output } = await finish(setup("setup_bun; bun --version; command -v bun"), { PATH: path });
    expect([code, output]).toEqual([0, expect.stringContaining(`${project}/.tools/bin/bun`)]);
  });
});
