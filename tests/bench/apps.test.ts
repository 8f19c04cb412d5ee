/** Apps that are not ours: started by their own commands, or found by the port at which they listen. */
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type LocalSpec, parseTarget, SERVERS } from "../../bench/ask/targets.ts";
import { freePort } from "../../bench/host/free-port.ts";
import { listenerOf } from "../../bench/host/proc.ts";
import { sweep } from "../../bench/host/sweep.ts";
import { start } from "../../bench/run/targets/local.ts";
import { untilReady } from "../../bench/run/targets/target.ts";
import {
  bench,
  finish,
  left,
  must,
  needs,
  needsOf,
  type Program,
  resultsIn,
  rowsOf,
  run,
  scratch,
  testIf,
  until,
} from "../harness.ts";

const folder = scratch();
beforeAll(() => void sweep()); // as a run does that starts an app
const newFile = resultsIn(folder);
const linux = process.platform === "linux";

/** Answers at PORT; its start is told by a file. */
const APP = `
const { createServer } = require("node:http");
if (process.env.GREETING !== "hello") { console.error("no GREETING"); process.exit(3); }
createServer((request, response) => {
  response.statusCode = request.url === "/ok" ? 200 : 404;
  response.end("x");
}).listen(Number(process.env.PORT), "127.0.0.1");
`;
const app = join(folder, "app");
mkdirSync(app);
writeFileSync(join(app, "app.js"), APP);
const SETTINGS = ["--cwd", app, "--env", "GREETING=hello", "--endpoints", "/ok"];

test("apps and a URL of this machine are compared with our servers, and only what was started here ends", async () => {
  const port = await freePort();
  const running = run(["node", join(app, "app.js")], { GREETING: "hello", PORT: String(port) });
  try {
    await until(async () => (await fetch(`http://127.0.0.1:${port}/ok`).catch(() => null))?.ok === true);
    const file = newFile();
    const args = [
      ...["--start", "plain=node app.js", "--start", "by-shell=echo up >> started; node app.js; true"],
      ...["--setup", "echo ready > started", "--name", "running", `http://127.0.0.1:${port}`],
    ];
    const { code, output } = await finish(bench(file, ...SETTINGS, ...args), { MARKER: "apps" });
    expect([code, output]).toEqual([0, expect.stringContaining("Least CPU ")]);
    const rows = rowsOf(file);
    const names = new Set(rows.map(({ Name }) => Name));
    expect(names).toEqual(new Set(["plain", "by-shell", "running"]));
    if (linux) {
      for (const name of names) {
        const windows = rowsOf(file, "windows.csv").filter(({ Name }) => Name === name);
        expect(windows.length).toBeGreaterThan(0);
        const total = (field: "CpuUs" | "Requests") => windows.reduce((sum, window) => sum + Number(window[field]), 0);
        expect(total("CpuUs") / total("Requests")).toBeGreaterThan(1);
      }
      expect(left("apps")).toEqual([]);
    }
    const started = await Bun.file(join(app, "started")).text();
    expect(started).toMatch(/^ready\n(up\n)+$/);
    expect(started.match(/up/g)?.length).toBeGreaterThanOrEqual(2); // once a restart
    expect((await fetch(`http://127.0.0.1:${port}/ok`)).status).toBe(200);
  } finally {
    running.child.kill();
    await running.ended;
  }
});

test("requests with methods, headers and bodies; at several rates; at rest", async () => {
  const strict = `
const { createServer } = require("node:http");
createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  const asked = [request.method, request.url, request.headers.authorization ?? "", body].join(" ");
  response.statusCode = { "GET /?a=1 Bearer x ": 200, 'PUT /b  {"c":1}': 204, "GET /up  ": 200 }[asked] ?? 400;
  if (response.statusCode === 400) console.error(asked);
  response.end(response.statusCode === 204 ? undefined : "x");
}).listen(Number(process.env.PORT), "127.0.0.1");
const burn = Number(process.env.BURN_MS ?? 0);
const usedMs = () => Object.values(process.cpuUsage()).reduce((sum, us) => sum + us / 1e3, 0);
if (burn > 0) setInterval(() => { for (const until = usedMs() + burn; usedMs() < until; ); }, 100);
`;
  writeFileSync(join(app, "strict.js"), strict);
  writeFileSync(
    join(app, "all.http"),
    `GET /?a=1\nauthorization: Bearer x\n\n###\nPUT /b\ncontent-type: application/json\n\n{"c":1}\n\n?? status == 204\n`,
  );
  const file = newFile();
  const start = ["--start", "strict=node strict.js", "--cwd", app, "--ready", "/up", "--warmup", "200"];
  const { code, output } = await finish(bench(file, ...start, "--requests", join(app, "all.http")));
  expect([code, output]).toEqual([0, expect.stringContaining(" slices in ")]);
  const rows = rowsOf(file);
  expect(new Set(rows.map(({ Endpoint }) => Endpoint))).toEqual(new Set(["/?a=1", "PUT /b"]));
  for (const row of rows) expect([row.Endpoint, row["Error Count"]]).toEqual([row.Endpoint, "0"]);

  const header = ["--endpoints", "/?a=1", "--header", "authorization: Bearer x"];
  const wrong = await finish(bench(newFile(), ...start, "--endpoints", "/?a=1"));
  expect([wrong.code, wrong.output]).toEqual([
    1,
    expect.stringContaining(`strict answers /?a=1 with status 400 "x": only answers with status 2xx are loaded`),
  ]);

  const atRates = newFile();
  const loads = await finish(
    bench(atRates, ...start, "--start", "timer=BURN_MS=20 node strict.js", ...header, "--rate", "200,800"),
  );
  expect([loads.code, loads.output]).toEqual([0, expect.stringContaining(" slices in ")]);
  const seen = rowsOf(atRates);
  const rates = [...new Set(seen.map(({ TargetRate }) => Number(TargetRate)))];
  rates.sort((a, b) => a - b);
  expect(rates).toEqual([200, 800]);
  for (const { Kind, TargetRate, Endpoint, Scenario } of seen)
    expect([Kind, Endpoint, Scenario]).toEqual(["open", "/?a=1", `/?a=1 at ${TargetRate}/s`]);
  // A timer costs what it costs, however many requests share it.
  if (linux) {
    const dearer = rates.map((rate) => {
      const cost = (name: string) => {
        const of = seen.filter((row) => row.Name === name && Number(row.TargetRate) === rate);
        return Math.min(...of.map(({ CpuUsPerRequest }) => Number(CpuUsPerRequest))); // of the slice least disturbed
      };
      return cost("timer") / cost("strict");
    });
    expect(dearer[0]).toBeGreaterThan(1.1);
    expect(dearer[0]).toBeGreaterThan(1.1 * (dearer[1] as number));
  }

  const idle = await finish(["./bench.sh", ...start, ...header, "--results", newFile(), "--idle"]);
  expect([idle.code, idle.output]).toEqual([0, expect.stringMatching(/^strict +\d+ \(\d+–\d+\)/m)]);
  expect(idle.output).toContain("MB per 1,000 idle");
});

testIf(...needs("python3"), "one that gets its port in its command", async () => {
  const file = newFile();
  const start = ["--start", "python=python3 -m http.server {port}", "--cwd", app, "--endpoints", "/app.js"];
  const { code, output } = await finish(bench(file, ...start, "--warmup", "100"));
  expect([code, output]).toEqual([0, expect.stringContaining(" slices in ")]);
  for (const { Name, CpuUsPerRequest } of rowsOf(file)) {
    expect(Name).toBe("python");
    if (linux) expect(Number(CpuUsPerRequest)).toBeGreaterThan(1);
  }
  const pair = ["compare", "python", "node", ...start, "--start", "node=node app.js", "--results", newFile()];
  const refused = await finish(["./bench.sh", ...pair]);
  expect([refused.code, refused.output]).toEqual([1, expect.stringContaining("node did not start: no GREETING\n")]);
});

describe("mistakes are one line, and nothing is left", () => {
  const taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("x") });
  afterAll(() => taken.stop(true));

  const cases: [string[], string][] = [
    [["--start", "node app.js"], `--start "node app.js": write it as NAME=COMMAND`],
    [["--start", "bun-raw=node app.js"], "bun-raw is one of our servers: give another name"],
    [["--start", "a=true", "--start", "a=false"], "--start has two apps named a"],
    [["--start", "a=true", "--cwd", "/nowhere"], '--cwd "/nowhere": there is no such folder'],
    [["--start", "a=true", "--env", "GREETING"], '--env "GREETING": write it as NAME=VALUE'],
    [
      ["--start", "a=true", "--setup", "echo no such package; exit 7"],
      'no such package\n--setup "echo no such package; exit 7" failed with 7',
    ],
    [["--setup", "true"], "--setup requires --start"],
    [["--start", "a=true", "--docker"], "--docker cannot be combined with --start"],
    [["--start", "a=true", "--workload", "content"], "leave out --start"],
    [["--start", "a=true", "--start", "b=true", "--port", "80"], "--port 80 works for one app, not 2"],
    [["--start", "a=node app.js", "--port", String(taken.port)], `a cannot listen on port ${taken.port}`],
    [["--start", "a=echo broken >&2; exit 4"], "a did not start: broken"],
    [["--start", "a=true"], "a did not start: it ended by 0"],
    [["--start", "a=node app.js &", "--env", "GREETING=hello"], "a did not start: it ended by 0"],
    [["--start", "a=setsid -f node app.js", "--env", "GREETING=hello"], "a did not start: it ended by 0"],
  ];
  for (const [i, [args, message]] of cases.entries()) {
    testIf(...needs(...needsOf(args)), message, async () => {
      const file = newFile();
      const { code, output } = await finish(bench(file, ...SETTINGS.slice(0, 2), "--endpoints", "/ok", ...args), {
        MARKER: `mistake${i}`,
      });
      expect([args, code, output]).toEqual([args, 1, expect.stringContaining(message)]);
      if (linux) expect(left(`mistake${i}`)).toEqual([]);
    });
  }
});

test("an app that has a login only, on the Node of whoever called: its card says how fast it is", async () => {
  const [bin, mark] = [join(folder, "bin"), join(folder, "mark")];
  mkdirSync(bin);
  const node = must(["node", "-p", "process.execPath"]);
  writeFileSync(join(bin, "node"), `#!/bin/sh\necho "$1" >>${mark}\nexec ${node} "$@"\n`, { mode: 0o755 });
  const login = `require("node:http").createServer((request, response) => {
    const { method, url, headers } = request;
    response.statusCode = method === "POST" && url === "/login" && headers.authorization === "Bearer x" ? 200 : 401;
    response.end("welcome");
  }).listen(process.env.PORT, "127.0.0.1");`;
  writeFileSync(join(app, "login.js"), login);
  const args = ["--start", "my-app=node login.js", "--cwd", app, "--endpoints", "POST /login", "--body", "{}"];
  const own = { CALLERS_PATH: "", PATH: `${bin}:${process.env.PATH}` };
  const dry = await finish(bench(newFile(), ...args, "--setup", "node -e 1", "--dry-run"), own);
  expect([dry.code, existsSync(mark)]).toEqual([0, false]);
  const { code, output } = await finish(bench(newFile(), ...args, "--header", "authorization: Bearer x"), own);
  expect([code, output]).toEqual([0, expect.stringMatching(/^POST \/login +\d+\.\d .*\d/m)]);
  expect(output).toMatch(/^In practice {2}200 requests\/s of POST \/login keep \d.* % of a core busy$/m);
  expect(readFileSync(mark, "utf8")).toStartWith("login.js\n");
});

/** The app as one of a run. */
const APP_SPEC: LocalSpec = {
  kind: "local",
  name: "app",
  command: ["node", join(app, "app.js")],
  env: { GREETING: "hello" },
  app: { cwd: app, ready: { method: "GET", path: "/ok", headers: {} } },
};

describe("an app that starts", () => {
  const never = new AbortController().signal;
  const get = (path: string) => ({ ready: { method: "GET", path, headers: {} } });

  test("has a minute for it", async () => {
    const server = Bun.serve({ port: 0, fetch: () => new Response("x") });
    let passedMs = 0;
    const clock = spyOn(Date, "now").mockImplementation(() => passedMs);
    const startAt = (ms: number) => {
      passedMs = 0;
      const find = () => {
        passedMs += 500;
        const port = passedMs < ms ? 1 : server.port; // nothing listens at port 1
        return { up: true, url: `http://127.0.0.1:${port}`, log: "no GREETING" };
      };
      return untilReady("app", never, find, get("/ok"));
    };
    try {
      expect((await startAt(59_000)).url).toEndWith(`${server.port}`);
      await expect(startAt(70_000)).rejects.toThrow(/^app did not answer .*\/ok within 60 s: no GREETING$/);
    } finally {
      clock.mockRestore();
      await server.stop(true);
    }
  });

  test("and does not end its answer, like a stream, is refused", async () => {
    const late = new AbortController();
    const timeout = spyOn(AbortSignal, "timeout").mockReturnValue(late.signal);
    // The sockets hold less than this, so once all of it is sent, the answer has begun.
    const end = () => late.abort(new DOMException("30 s have passed", "TimeoutError"));
    const server = createServer((_, response) => response.write(Buffer.alloc(2 ** 26), end)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      await expect(untilReady("app", never, () => ({ up: true, url, log: "" }), get("/events"))).rejects.toThrow(
        "/events does not end its answer within 30 s, like a stream: leave it out",
      );
      expect(timeout).toHaveBeenCalledWith(30_000);
    } finally {
      timeout.mockRestore();
      server.close();
    }
  });
});

testIf(
  ...needs("linux", "ps"),
  "our servers and apps have a session each, between which the scheduler shares a core",
  async () => {
    const own = parseTarget("bun-raw", SERVERS) as LocalSpec;
    for (const spec of [own, APP_SPEC]) {
      const target = await start(spec, undefined, new AbortController().signal);
      const session = must(["ps", "-o", "sid=", "-p", String(target.pid)]);
      await target.stop();
      expect([spec.name, Number(session)]).toEqual([spec.name, target.pid as number]);
    }
  },
);

testIf(...needs("linux"), "the process that listens is found, also above several", async () => {
  const port = await freePort();
  const cluster = `
    const cluster = require("node:cluster");
    if (cluster.isPrimary) { cluster.fork(); cluster.fork(); }
    else require("node:http").createServer((_, r) => r.end("x")).listen({ port: ${port}, reusePort: true });
  `;
  writeFileSync(join(folder, "cluster.js"), cluster);
  const program: Program = run(["node", join(folder, "cluster.js")]);
  try {
    await until(async () => {
      if (program.child.exitCode !== null) throw new Error(`ended: ${program.output()}`);
      return (await fetch(`http://127.0.0.1:${port}`).catch(() => null))?.ok === true;
    });
    await until(() => listenerOf(port) === program.pid); // when the second listens as well
    expect(listenerOf(await freePort())).toBeNull();
  } finally {
    program.child.kill();
    await program.ended;
  }
});
