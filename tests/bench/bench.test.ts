/** bench.sh as a user runs it, on real servers and short slices. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { lock } from "proper-lockfile";
import { freePort } from "../../bench/host/free-port.ts";
import { runFile } from "../../bench/keep/files.ts";
import { appendResults, checkResults, RESULT_COLUMNS, type ResultRow } from "../../bench/keep/results.ts";
import { appendSlices, PROTOCOL, readSlices, type Slice } from "../../bench/keep/slices.ts";
import {
  bench,
  csvOf,
  finish,
  left,
  makeDatabase,
  must,
  needs,
  needsOf,
  resultsIn,
  rowsOf,
  run,
  type Server,
  scratch,
  startServer,
  stopServer,
  testIf,
  until,
} from "../harness.ts";

const folder = scratch();
const newFile = resultsIn(folder);

describe("a mistake in the pairs to compare prints one line", () => {
  for (const [args, message] of [
    [["compare", "bun-raw"], "compare takes two servers: name both"],
    [["compare", "bun-raw", "koa"], '"koa": choose from'],
    [["tax", "--servers", "bun-raw*2"], '--servers has "bun-raw*2", which has no handwritten counterpart'],
    [["tax", "--servers", "go@modernc"], '--servers has "go@modernc", which has no handwritten counterpart'],
    [
      ["tax", "--workload", "content", "--servers", "node-raw@pg"],
      '--servers has "node-raw@pg", which has no handwritten counterpart',
    ],
    [["tax", "--workload", "tpcb", "--servers", "go"], '--servers has "go", which has no handwritten counterpart'],
    [["self-test", "--servers", "koa"], '--servers has "koa": choose from'],
  ] as const) {
    testIf(...needs(...needsOf(args)), args.join(" "), async () => {
      const { code, output } = await finish(["./bench.sh", ...args]);
      expect([code, output]).toEqual([1, expect.stringContaining(message)]);
    });
  }
});

test("--dry-run prints the plan and measures nothing", () => {
  const file = newFile();
  const args = ["--dry-run", "--standard", "--seed", "7", "--servers", "bun-raw,node-raw"];
  const plan = must(bench(file, ...args));
  expect(plan).toContain("3 servers × 8 endpoints, 8 connections: 0 s, as many restarts as fit, at least two");
  expect(plan).toMatch(/servers: bun-raw node-raw (bun|node)-raw#2\nendpoints: \/plain /);
  expect(existsSync(file)).toBe(false);
});

describe("servers that run already", () => {
  let ours: Server;
  let foreign: ReturnType<typeof Bun.serve>;
  let broken: ReturnType<typeof Bun.serve>;
  beforeAll(async () => {
    ours = await startServer({ SERVER: "bun-elysia", DB_FILE: makeDatabase(join(folder, "data.db"), 10) });
    foreign = Bun.serve({ port: 0, fetch: () => Response.json({ message: "Hello, world!" }) });
    broken = Bun.serve({ port: 0, fetch: () => new Response("no", { status: 500 }) });
  });
  afterAll(async () => {
    await stopServer(ours);
    await foreign.stop(true);
    await broken.stop(true);
  });
  const urlOf = (server: { port?: number | undefined }) => `http://127.0.0.1:${server.port}`;

  test("one that cannot be reached ends the run, and no process that the run started is left", async () => {
    const { code, output } = await finish(bench(newFile(), "http://127.0.0.1:1"), { MARKER: "unreachable" });
    expect([code, output]).toEqual([1, expect.stringContaining("cannot be reached")]);
    expect(left("unreachable")).toEqual([]);
  });

  test("each identifies itself or gets a name from --name, and all keep running", async () => {
    const file = newFile();
    const args = ["--endpoints", "/plain", "--name", ",go-fiber", urlOf(ours), urlOf(foreign)];
    expect((await finish(bench(file, ...args))).code).toBe(0);
    const rows = rowsOf(file);
    const of = (name: string) => rows.filter((row) => row.Name === name);
    expect([of("bun-elysia").length, of("go-fiber").length]).toEqual([2, 2]);
    expect(of("bun-elysia")[0]?.Runtime).toStartWith("bun ");
    expect(Number(of("bun-elysia")[0]?.CpuUsPerRequest)).toBeGreaterThan(0);
    expect(of("go-fiber")[0]).toMatchObject({ Runtime: "", Workers: "" });
    const again = await finish(bench(file, "--endpoints", "/plain", `${urlOf(ours)}/`));
    expect([again.code, again.output]).toEqual([
      0,
      expect.stringMatching(/^In practice {2}200 requests\/s of \/plain keep \d.* % of a core busy$/m),
    ]);
    expect(again.output).toContain("Running servers are not restarted");
    expect(rowsOf(file)).toHaveLength(6);
    expect((await fetch(ours.url)).status).toBe(200);
  });

  test("a mistake prints one line, before anything is measured", async () => {
    const closed = `http://127.0.0.1:${await freePort()}`;
    const cases: [string[], string][] = [
      [[closed], `${closed}/ cannot be reached`],
      [[`${closed}/a?b=1`], "has a query: give that with --endpoints, e.g. '/path?a=1'"],
      [[urlOf(ours), closed], `${closed}/ cannot be reached`],
      [[urlOf(foreign)], "does not name the server: give --name NAME"],
      [
        ["--name", "x", urlOf(broken)],
        `x answers /plain with status 500 "no": only answers with status 2xx are loaded`,
      ],
      [["--name", "a,b", urlOf(ours)], '--name "b" has no URL'],
      [["ours"], '"ours" is not a URL: write it as http://host:port'],
      [["--servers", "koa"], '--servers has "koa": choose from'],
      [["--servers", "constructor"], '--servers has "constructor": choose from'],
      [["--servers", "node-raw@bun:sqlite"], "on node set it to one of"],
      [["--servers", "node-raw*x"], '--servers has "node-raw*x"'],
      [["--endpoints", "plain"], '--endpoints has "plain": write it as /path'],
      [["--endpoints", ""], "Write at least one path"],
      [["--requests", "a.http", "--requests", "b.http"], "It is given twice: write all requests to one file."],
      [["--connections", "1.5"], "'1.5' is invalid"],
      [["--seconds", "long"], "'long' is invalid"],
      [["--quick", "--full"], "--quick --full: choose one"],
      [["--slo", "fast"], '--slo is "fast": write it as p99<50ms'],
      [
        ["--resume", "2026", "--dry-run", "bun-raw"],
        "--resume 2026 continues the run with its own options: leave out --connections --dry-run --minutes --seconds --warmup bun-raw",
      ],
      [["--rate", "5"], "--rate 5 gives each of 8 connections one request in 1.6 s: lower --connections, or raise"],
      [["--rate", "500,5"], "--rate 5 gives each of 8 connections one request in 1.6 s: lower --connections, or raise"],
      [["--results", join(folder, "no/such/file.csv")], "cannot be written"],
    ];
    for (const [args, message] of cases) {
      const file = newFile();
      const { code, output } = await finish(bench(file, ...args));
      expect([args, code, output]).toEqual([args, 1, expect.stringContaining(message)]);
      expect(existsSync(file) ? readFileSync(file, "utf8") : "").toBe("");
    }
  });
});

describe("interrupted", () => {
  /** Before and while servers start, during warm-up, in windows, in a slice and in the next restart. */
  const moments: Record<string, (output: string, file: string) => boolean> = {
    "the plan": (output) => output.includes("as many restarts as fit"),
    "the machine": (output) => output.includes("restart 0: machine speed"),
    "the first server": (output) => /(bun-raw|node-hono): start/.test(output),
    "the second server": (output) => output.includes("bun-raw: start") && output.includes("node-hono: start"),
    "a generator": (output) => output.includes("restart 1 "),
    "a slice": (_, file) => rowsOf(file).length > 0,
    "restart 2": (output) => output.includes("restart 2 "),
  };
  for (const [signal, status, at] of [
    ["SIGINT", 130, Object.keys(moments)],
    ["SIGTERM", 143, ["a generator", "a slice"]],
    ["SIGHUP", 129, ["a slice"]],
  ] as const) {
    for (const after of at) {
      test(`${signal} after ${after} leaves whole rows and no process`, async () => {
        const file = newFile();
        const marker = `${signal}${after}`;
        const args = ["--servers", "bun-raw,node-hono", "--endpoints", "/plain,/html-template"];
        const program = run(bench(file, ...args), { MARKER: marker });
        await until(() => moments[after]?.(program.output(), file) || program.child.exitCode !== null);
        program.child.kill(signal);
        const { code } = await program.ended;
        expect([code, code === status ? "" : program.output()]).toEqual([status, ""]);
        expect(program.output()).toContain(`stopped; results so far are in ${file.replace(".csv", "")}`);
        for (const row of rowsOf(file)) expect(Number(row.Requests)).toBeGreaterThan(0);
        // The report shows the rows that exist.
        if (rowsOf(file).length > 0) expect(program.output()).toContain("continues this run");
        expect(left(marker)).toEqual([]);
      });
    }
  }

  test("--resume continues the run, and its earlier rows count", async () => {
    const file = newFile();
    const program = run(bench(file, "--servers", "bun-raw,node-hono", "--endpoints", "/plain"));
    await until(() => program.output().includes("restart 2 ") || program.child.exitCode !== null);
    program.child.kill("SIGINT");
    await program.ended;
    const [, id = ""] = /--resume (\S+) continues/.exec(program.output()) ?? [];
    const before = rowsOf(file).length;
    const { code, output } = await finish(["./bench.sh", "--results", file, "--resume", id]);
    expect([code, output]).toEqual([0, expect.stringContaining(" slices in ")]);
    expect(rowsOf(file).length).toBeGreaterThan(before);
    expect(new Set(rowsOf(file).map(({ Run }) => Run))).toEqual(new Set([id]));
    const manifest = JSON.parse(readFileSync(runFile(file, id, "json"), "utf8"));
    expect(manifest.restarts).toBe(2);
    expect(new Set(rowsOf(file).map(({ Restart }) => Restart)).size).toBeGreaterThanOrEqual(2);
    // --resume refuses rows of another host, protocol, version or machine, and names what differs.
    const { environment, machine } = manifest;
    const elsewhere = { environment: { ...environment, fortio: "1.0.0" }, machine: { ...machine, microcode: "0x1" } };
    for (const [other, what] of [
      [{ host: "elsewhere" }, "on host elsewhere"],
      [{ protocol: 1 }, "it has protocol 1"],
      [elsewhere, `fortio 1.0.0 → ${environment.fortio}, the machine's microcode 0x1 → ${machine.microcode}: `],
    ] as const) {
      writeFileSync(runFile(file, id, "json"), JSON.stringify({ ...manifest, ...other }));
      const refused = await finish(["./bench.sh", "--results", file, "--resume", id]);
      expect([refused.code, refused.output]).toEqual([1, expect.stringContaining(what)]);
      expect(refused.output).toMatch(/^--resume .* start a new run\n$/);
    }
    expect((await finish(["./bench.sh", "--results", file, "--resume", "2026"])).output).toContain("there is no");
  });
});

describe("results.csv", () => {
  const slice: Slice = {
    name: 'a "name", quoted',
    endpoint: "/plain",
    requests: 3,
    errors: 1,
    averageMs: 1.23456789,
    goodput: 2,
    p50Ms: 1,
    p90Ms: 2,
    p99Ms: 3,
    p999Ms: 4,
    cpuUsPerRequest: null,
    rssBytes: 123_456_789,
    connections: 1,
    sockets: 1,
    seconds: 1,
    kind: "closed",
    run: "test",
    startedAt: "2026-01-01T00:00:00.000Z",
    protocol: PROTOCOL,
    runtime: null,
    framework: null,
    driver: null,
    workers: null,
    target: "http://x",
    host: "here",
    restart: 1,
    slice: 1,
    targetRate: null,
    verdict: "invalid",
    scenario: "/plain",
    step: null,
    server: null,
    chosenDriver: null,
    settings: null,
    twinOf: null,
    maxMs: 5,
    utilization: 0.5,
    peakRssBytes: null,
    startupMs: null,
    generatorCpu: 0.1,
    bytesPerRequest: 100,
    kernelUsPerRequest: 2.5,
    childUsPerRequest: 0,
    collectorUsPerRequest: null,
    switchesPerRequest: 0.5,
    taken: 0.01,
    databaseBytes: null,
    lockWaiters: null,
    idleInTransaction: null,
    deadlocks: null,
  };

  test("reading slices returns what was written", () => {
    const file = newFile();
    appendSlices(file, [slice]);
    appendSlices(file, [{ ...slice, run: "other" }]);
    appendSlices(file, [slice]);
    expect(readSlices(file, "test")).toEqual(new Array(2).fill({ ...slice, averageMs: 1.23457 }));
    expect(rowsOf(file)[0]).toMatchObject({ Name: 'a "name", quoted', QPS: "2", CpuUsPerRequest: "" });
  });

  const row = Object.fromEntries(RESULT_COLUMNS.map((column) => [column, column])) as ResultRow;
  const newResults = () => {
    const file = newFile();
    checkResults(file);
    return file;
  };

  test("writers at the same time lose no row and mix none", async () => {
    const file = newResults();
    const script = (run: number) => `const { appendResults } = await import("./bench/keep/results.ts");
      for (let i = 0; i < 25; i++) await appendResults(${JSON.stringify(file)}, \`${run}-\${i}.\`,
        [{ ...${JSON.stringify(row)}, Run: \`${run}-\${i}.\` }]);`;
    const ended = await Promise.all([1, 2, 3, 4].map((run) => finish(["bun", "-e", script(run)])));
    expect(ended.map(({ code, output }) => [code, output])).toEqual(new Array(4).fill([0, ""]));
    expect(new Set(csvOf(file).map(({ Run }) => Run)).size).toBe(100);
  });

  test("a row waits for the writer before it", async () => {
    const file = newResults();
    const release = await lock(file);
    const appended = appendResults(file, "one", [row]);
    expect(await Promise.race([appended, sleep(300, "waiting")])).toBe("waiting");
    expect(readFileSync(file, "utf8")).toBe("");
    await release();
    await appended;
    expect(csvOf(file)).toHaveLength(1);
  });

  test("a run that continues replaces only its own rows", async () => {
    const file = newResults();
    const named = (Run: string, Name: string) => ({ ...row, Run, Name });
    await appendResults(file, "one", [named("one", "a"), named("one", "b")]);
    await appendResults(file, "two", [named("two", 'a "name", quoted')]);
    await appendResults(file, "one", [named("one", "c")]);
    expect(csvOf(file).map(({ Name }) => Name)).toEqual(['a "name", quoted', "c"]);
  });

  test("a file without a final newline gets one before new rows", async () => {
    const file = newFile();
    writeFileSync(file, `${RESULT_COLUMNS.join()}`);
    await appendResults(file, "one", [row]);
    expect(csvOf(file)).toHaveLength(1);
  });

  test("a file with other columns is not changed", async () => {
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

/** A PATH with only the system's tools and the named ones. */
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

  testIf(...needs("npm"), "Bun comes from npm", async () => {
    const path = `${pathWith("npm", "node", "npm", "env")}${delimiter}/usr/bin${delimiter}/bin`;
    const { code, output } = await finish(setup("setup_bun; bun --version; command -v bun"), { PATH: path });
    expect([code, output]).toEqual([0, expect.stringContaining(`${project}/.tools/bin/bun`)]);
  });
});
