/** The contract of processes and HTTP, on a running server. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { constants, copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Identity } from "../../shared/identity.ts";
import { PEOPLE, type Table } from "../../shared/people.ts";
import {
  descriptorsOf,
  finish,
  listenersOn,
  makeDatabase,
  needs,
  type Server,
  START,
  scratch,
  startServer,
  stopServer,
  testIf,
  until,
} from "../harness.ts";
import { expectHeaders, mediaType, openClient } from "../http.ts";
import type { Strictness } from "../strictness.ts";
import { attackSuite } from "./attack-suite.ts";
import { contentSuite } from "./content-suite.ts";

const ROWS = 100;
const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Hello</title>
  </head>
  <body>
    <h1>Hello</h1>
    <p>Hi Ben</p>
  </body>
</html>
`;
const PATHS: Record<Table, string> = { person5: "/sqlite/random-5fields", person30: "/sqlite/random-30fields" };
const BAD_SIZES = ["0", "-1", "abc", "1e2", "1.5", "501", "%00"];
/** Only for the ten servers, because other languages may parse integers with a sign or spaces. */
const ODD_SIZES = ["01", "+1", "%201", "1%20", "0x10", "99999999999999999999", "1;2"];
const ABSENT = ["/nope", "/PLAIN", "/plain/x", "/sqlite", "/sqlite/random-5fields", "/sqlite/random-5fields/1/2"];
const ODD_PATHS = ["/plain/", "/html-template/", "/sqlite/random-5fields/", "/sqlite/random-6fields/1"];

const folder = scratch();
const made = makeDatabase(join(folder, "made.db"), ROWS);

export interface Cell {
  readonly server: string;
  readonly runtime: string;
  readonly framework: string;
  readonly driver: string;
  readonly workers: number;
  /** Exact for the ten servers, which all use servers/workers.ts. */
  readonly strictness: Strictness;
  readonly workloads: readonly string[];
}

export function contractSuite({
  server: name,
  runtime,
  framework,
  driver,
  workers,
  strictness,
  workloads,
}: Cell): void {
  const { exact } = strictness;
  const file = join(folder, `${name}-${driver}-${workers}.db`);
  let server: Server;
  let startupMs: number;
  let database: Database;
  const get = (path: string, init?: RequestInit) => fetch(server.url + path, init);

  beforeAll(async () => {
    copyFileSync(made, file);
    database = new Database(file);
    database.run("PRAGMA busy_timeout = 60000"); // the server may still answer some attacks
    const since = performance.now();
    server = await startServer({
      SERVER: name,
      SQLITE_DRIVER: driver,
      WORKERS: String(workers),
      DB_FILE: file,
      ...(workloads.includes("content") && { STORE: "sqlite", CONTENT_FILE: `${file}-content` }),
    });
    startupMs = performance.now() - since;
  });
  afterAll(async () => {
    await stopServer(server);
    database.close();
  });

  test("GET / identifies the server", async () => {
    const identity = (await (await get("/")).json()) as Identity;
    const installed = join("node_modules", framework, "package.json");
    expect(identity).toMatchObject({
      server: name,
      runtime: { name: runtime },
      framework: {
        name: framework,
        version: framework === "raw" ? null : versionIn(installed),
      },
      driver: { name: driver, sqlite: expect.stringMatching(/^3\.\d+\.\d+$/) },
      workers,
      pid: server.pid,
    });
    expect(identity.uptimeSeconds).toBeGreaterThan(0);
    expect(identity.rssBytes).toBeGreaterThan(workers * 1e6);
    const later = (await (await get("/")).json()) as Identity;
    expect(later.cpuUs).toBeGreaterThanOrEqual(identity.cpuUs);
  });

  test("/plain", async () => {
    const response = await get("/plain?query=ignored");
    expect(response.status).toBe(200);
    expect(mediaType(response)).toBe("application/json");
    expect(strictness.body(await response.text())).toEqual(strictness.json({ message: "Hello, world!" }));
  });

  test("/html-template", async () => {
    const response = await get("/html-template");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")?.toLowerCase()).toBe("text/html; charset=utf-8");
    expect(await response.text()).toBe(HTML);
  });

  for (const [table, path] of Object.entries(PATHS) as [Table, string][]) {
    test(`${path}/:size answers rows of the database`, async () => {
      const stored = database.query<Record<string, unknown>, [number]>(`SELECT * FROM ${table} WHERE id = ?`);
      for (const size of [1, 5, 10, 500]) {
        const response = await get(`${path}/${size}`);
        expect(response.status).toBe(200);
        expect(mediaType(response)).toBe("application/json");
        const rows = (await response.json()) as Record<string, number>[];
        expect(rows).toHaveLength(size);
        for (const row of rows) {
          if (exact) expect(Object.keys(row)).toEqual(["id", ...PEOPLE[table].map((column) => column.name)]);
          expect(row).toEqual(stored.get(row.id as number) as never);
        }
      }
    });

    // For the ten servers once per driver, because shared/ draws the ids, not the adapter or the workers.
    if (workers === 1 || !exact) {
      test(`${path}/:size draws ids uniformly and misses none`, async () => {
        const draws = new Array<number>(ROWS).fill(0);
        for (let i = 0; i < 4; i++) {
          for (const { id } of (await (await get(`${path}/500`)).json()) as { id: number }[])
            draws[id - 1] = (draws[id - 1] ?? Number.NaN) + 1;
        }
        // Each id is drawn 20 times on average, so an id is missed by chance in one run in 5 million.
        expect(Math.min(...draws)).toBeGreaterThan(0);
        expect(draws).toHaveLength(ROWS);
        const bins = Array.from({ length: 20 }, (_, i) => draws.slice(i * 5, (i + 1) * 5).reduce((a, b) => a + b));
        const chiSquare = bins.reduce((sum, n) => sum + (n - 100) ** 2 / 100, 0);
        expect(chiSquare).toBeLessThan(70); // 19 degrees of freedom: exceeded by chance once in 10 million
      });
    }
  }

  test("a bad size gets a 400 that names the size and the range", async () => {
    for (const path of Object.values(PATHS)) {
      for (const size of exact ? [...BAD_SIZES, ...ODD_SIZES] : BAD_SIZES) {
        const response = await get(`${path}/${size}`);
        expect([size, response.status, mediaType(response)]).toEqual([size, 400, "application/json"]);
        const { error, ...rest } = (await response.json()) as { error: string };
        expect(rest).toEqual({});
        const named = JSON.stringify(decodeURIComponent(size));
        if (exact) expect(error).toBe(`size must be an integer from 1 to 500, not ${named}`);
        else for (const said of ["1", "500", size === "%00" ? "" : size]) expect(error).toContain(said);
      }
    }
  });

  test("any other path or method gets a 404", async () => {
    const isAbsent = async (path: string, method = "GET") => {
      const response = await get(path, { method });
      // Many frameworks answer 405, not 404, to a known path with an unknown method.
      const status = !exact && method !== "GET" && response.status === 405 ? 405 : 404;
      const body = strictness.body(await response.text());
      expect([method, path, response.status, body]).toEqual([method, path, status, strictness.error("not found")]);
      expect(mediaType(response)).toBe("application/json");
    };
    for (const path of [...ABSENT, "/tx?aid=1&tid=1&bid=1&delta=0", ...(exact ? ODD_PATHS : [])]) await isAbsent(path);
    for (const method of ["POST", "PUT", "DELETE"]) await isAbsent("/plain", method);
  });

  test("HEAD answers as GET, without the body", async () => {
    const client = await openClient(server.port);
    const headOf = async (path: string, method: string) => {
      const answer = await client.ask(path, method);
      const [head = ""] = answer.split("\r\n\r\n", 1);
      expect([path, answer.length > head.length + 4]).toEqual([path, method === "GET"]);
      const [status = "", ...headers] = head.toLowerCase().split("\r\n");
      // HEAD may omit headers that describe only the body (RFC 9110, 9.3.2), and rows differ in length.
      const same = exact ? headers.filter((header) => !/^(date|transfer-encoding):/.test(header)).sort() : [];
      return [
        status.slice(0, 12),
        ...same.map((header) => (path.endsWith("/1") ? header.replace(/\d+$/, "n") : header)),
      ];
    };
    for (const path of ["/plain", "/html-template", "/sqlite/random-5fields/1", "/sqlite/random-5fields/0", "/nope"])
      expect([path, await headOf(path, "HEAD")]).toEqual([path, await headOf(path, "GET")]);
    client.socket.destroy();
  });

  if (exact) {
    test("a size that cannot be decoded is refused", async () => {
      const response = await get("/sqlite/random-5fields/%zz");
      expect(response.status).toBe(name === "node-elysia" ? 404 : 400); // its router does not match a path that it cannot decode
      expect(await response.json()).toEqual({ error: expect.any(String) });
    });

    test("a request line may contain a whole URL, and a host may have one letter", async () => {
      const client = await openClient(server.port);
      for (const path of ["http://a/plain", "http://localhost:3000/plain?query=ignored"]) {
        const answer = await client.ask(path);
        expect([path, answer]).toEqual([path, expect.stringMatching(/^HTTP\/1\.1 200 [\s\S]*"Hello, world!"/)]);
      }
      client.socket.destroy();
      for (const path of ["/plain", "/sqlite/random-5fields/1"])
        expect((await get(path, { headers: { host: "a" } })).status).toBe(200);
    });
  }

  test("the headers are the same as those of all servers", async () => {
    const right = ["/", "/plain", "/html-template", "/sqlite/random-5fields/1", "/sqlite/random-30fields/10"];
    const wrong = [[404, "GET", "/nope"] as const, [400, "GET", "/sqlite/random-5fields/0"] as const];
    for (const asked of [...right.map((path) => [200, "GET", path] as const), ...wrong])
      await expectHeaders(strictness, { name, port: server.port }, asked);
  });

  if (workloads.includes("content")) contentSuite(name, workers, () => server, strictness);

  test("the server has logged nothing so far", () => {
    expect(server.output()).toBe("");
  });

  // The ten servers have their own tests for this.
  if (!exact && workloads.length > 1) attackSuite(() => server, strictness);

  test("a handler that fails gets a 500 without the cause, and the server continues", async () => {
    database.run("ALTER TABLE person5 RENAME TO hidden");
    try {
      for (let i = 0; i < 2 * workers; i++) {
        const response = await get("/sqlite/random-5fields/1");
        const body = strictness.body(await response.text());
        expect([response.status, body]).toEqual([500, strictness.json({ error: "internal error" })]);
        expect((await get("/plain")).status).toBe(200);
      }
      await until(() => server.output().includes("person5"));
    } finally {
      database.run("ALTER TABLE hidden RENAME TO person5");
    }
    expect((await get("/sqlite/random-5fields/1")).status).toBe(200);
  });

  testIf(...needs("linux"), "the database is open for reading only", async () => {
    const look = () =>
      [server.pid, ...workersOf(server.pid)].map((pid) =>
        descriptorsOf(pid, file).map((fd) => {
          const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8"))?.[1];
          return Number.parseInt(flags ?? "", 8) & 0b11;
        }),
      );
    let open = look();
    const openers = () => open.filter((fds) => fds.length > 0).length;
    while (openers() < workers) {
      // The first worker answers before the last has started, and some open the database only while they answer.
      const answers = Array.from({ length: 20 }, () => get("/sqlite/random-30fields/500"));
      await Promise.race(answers);
      try {
        open = look();
      } catch {} // closed meanwhile
      await Promise.all(answers);
    }
    expect(openers()).toBe(workers);
    expect(new Set(open.flat())).toEqual(new Set([constants.O_RDONLY]));
  });

  if (workers > 1 && exact) {
    testIf(
      ...needs("linux"),
      "each worker listens on the port itself, and one that is killed is replaced",
      async () => {
        await until(() => listenersOn(server.port) === workers);
        const [victim] = workersOf(server.pid) as [number];
        process.kill(victim, "SIGKILL");
        await until(() => {
          const pids = workersOf(server.pid);
          return pids.length === workers && !pids.includes(victim) && listenersOn(server.port) === workers;
        });
        await until(() => server.output().includes(`worker ${victim} ended by SIGKILL`));
        for (let i = 0; i < 20; i++)
          expect((await get("/plain", { headers: { connection: "close" } })).status).toBe(200);
      },
    );
  }

  test("another server cannot use the port", async () => {
    const env = { SERVER: name, DB_FILE: file, HOST: "127.0.0.1", PORT: String(server.port), WORKERS: String(workers) };
    const { code, output } = await finish(START, env);
    const words = `127.0.0.1:${server.port} is taken: choose another with PORT or HOST\n`;
    expect([code, output]).toEqual([1, exact ? words : expect.stringMatching(new RegExp(`^.*${server.port}.*\n$`))]);
  });

  test("SIGTERM: requests in flight are answered, then exit 0", async () => {
    const path = (rows: number) => `/sqlite/random-30fields/${rows}`;
    // The server cuts requests about 4 s after SIGTERM, so these take about half a second on this machine.
    const began = Date.now();
    const many = { length: exact ? 20 : 5 };
    await Promise.all(Array.from(many, async () => (await get(path(500))).text()));
    const rows = Math.max(1, Math.floor(500 * Math.min(1, 500 / (Date.now() - began))));
    // One short answer each, so that the server accepts all connections and none is idle for so long that it closes it.
    const clients = await Promise.all(Array.from(many, () => openClient(server.port)));
    await Promise.all(clients.map((client) => client.ask(path(1))));
    const answers = clients.map((client) => client.ask(path(rows)));
    // Puma closes a connection whose next request it has not read yet.
    if (runtime === "ruby") await Bun.sleep(200);
    const signalled = performance.now();
    server.child.kill("SIGTERM");
    for (const answer of await Promise.all(answers)) {
      expect(answer).toStartWith("HTTP/1.1 200");
      expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")))).toHaveLength(rows);
    }
    expect(await server.ended).toEqual({ code: 0, signal: null });
    // The contract allows 5 s. On a slow machine to end a process takes long too, but no longer than to start it.
    expect(performance.now() - signalled).toBeLessThan(5_000 + startupMs);
    expect(await fetch(server.url).catch(() => "refused")).toBe("refused");
  });
}

/** Matches any text if there is no such package. */
const versionIn = (file: string): string =>
  existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).version : expect.any(String);

const workersOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
