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
  makeDatabase,
  type Server,
  START,
  scratch,
  startServer,
  stopServer,
  until,
} from "../harness.ts";
import { headersOf, mediaType, openClient, rawHeaders } from "../http.ts";
import { contentSuite } from "./content-suite.ts";

const ROWS = 1_000;
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
const BAD_SIZES = [
  "0",
  "-1",
  "abc",
  "1e2",
  "1.5",
  "501",
  "%00",
  "01",
  "+1",
  "%201",
  "1%20",
  "0x10",
  "99999999999999999999",
  "1;2",
];

/** Servers that do not answer `%zz` with 400 and the usual error. */
const UNDECODABLE: Record<string, { status: number; text?: string; reason: string }> = {
  "node-next": { status: 500, text: "Internal Server Error", reason: "its router fails before it reaches a handler" },
  "node-elysia": { status: 404, reason: "its router on Node matches no route if it cannot decode the path" },
  go: { status: 400, text: "400 Bad Request", reason: "net/http refuses the request line before a handler runs" },
  "python-flask-bjoern": {
    status: 400,
    text: "",
    reason: "bjoern refuses a path that it cannot decode, without a body",
  },
  "java-quarkus": { status: 400, text: "", reason: "Vert.x answers before a route runs" },
  "java-quarkus-v2": { status: 400, text: "", reason: "Vert.x answers before a route runs" },
  "java-spring-webflux": { status: 400, text: "", reason: "Spring answers before a route or filter runs" },
};

/** Servers that open the database only during a request, and why. */
const OPENED_TO_ANSWER: Record<string, string> = { "java-quarkus": "it opens a connection for each request" };

/** Servers that answer HEAD without the content-length of GET, and why. */
const HEAD_WITHOUT_LENGTH: Record<string, string> = {
  "java-quarkus": "it sends none for HEAD",
  "java-quarkus-v2": "it sends none for HEAD",
  "java-spring-webflux": "it sends pages in chunks, without a length",
};

const folder = scratch();
const made = makeDatabase(join(folder, "made.db"), ROWS);
const linux = process.platform === "linux";

export interface Cell {
  readonly server: string;
  readonly runtime: string;
  readonly framework: string;
  readonly driver: string;
  readonly workers: number;
  /** Its workers are started by servers/workers.ts. */
  readonly supervised: boolean;
  /** It has the content API. */
  readonly content: boolean;
}

export function contractSuite({ server: name, runtime, framework, driver, workers, supervised, content }: Cell): void {
  const file = join(folder, `${name}-${driver}-${workers}.db`);
  let server: Server;
  let database: Database;
  const get = (path: string, init?: RequestInit) => fetch(server.url + path, init);

  beforeAll(async () => {
    copyFileSync(made, file);
    database = new Database(file);
    server = await startServer({
      SERVER: name,
      SQLITE_DRIVER: driver,
      WORKERS: String(workers),
      DB_FILE: file,
      STORE: "sqlite",
      CONTENT_FILE: `${file}-content`,
    });
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
    expect(await response.text()).toBe('{"message":"Hello, world!"}');
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
          expect(Object.keys(row)).toEqual(["id", ...PEOPLE[table].map((column) => column.name)]);
          expect(row).toEqual(stored.get(row.id as number) as never);
        }
      }
    });

    // shared/ draws the ids, so adapter and workers do not matter.
    if (workers === 1) {
      test(`${path}/:size draws ids uniformly and misses none`, async () => {
        const draws = new Array<number>(ROWS).fill(0);
        for (let i = 0; i < 40; i++) {
          for (const { id } of (await (await get(`${path}/500`)).json()) as { id: number }[])
            draws[id - 1] = (draws[id - 1] ?? Number.NaN) + 1;
        }
        // Each id is expected 20 times; by chance, one run in 400,000 misses one.
        expect(Math.min(...draws)).toBeGreaterThan(0);
        expect(draws).toHaveLength(ROWS);
        const bins = Array.from({ length: 20 }, (_, i) => draws.slice(i * 50, (i + 1) * 50).reduce((a, b) => a + b));
        const chiSquare = bins.reduce((sum, n) => sum + (n - 1_000) ** 2 / 1_000, 0);
        expect(chiSquare).toBeLessThan(70); // 19 degrees of freedom: exceeded by chance once in 10 million
      });
    }
  }

  test("a bad size gets a 400 that names it", async () => {
    for (const path of Object.values(PATHS)) {
      for (const size of BAD_SIZES) {
        const response = await get(`${path}/${size}`);
        expect([size, response.status, mediaType(response)]).toEqual([size, 400, "application/json"]);
        const { error, ...rest } = (await response.json()) as { error: string };
        expect(rest).toEqual({});
        expect(error).toBe(`size must be an integer from 1 to 500, not ${JSON.stringify(decodeURIComponent(size))}`);
      }
    }
  });

  test("a size that cannot be decoded is refused", async () => {
    const response = await get("/sqlite/random-5fields/%zz");
    const { status = 400, text } = UNDECODABLE[name] ?? {};
    expect(response.status).toBe(status);
    if (text === undefined) expect(await response.json()).toEqual({ error: expect.any(String) });
    else expect(await response.text()).toBe(text);
  });

  test("any other path or method gets a 404", async () => {
    const paths = ["/nope", "/plain/", "/PLAIN", "/plain/x", "/html-template/", "/sqlite", "/sqlite/random-5fields"];
    for (const path of [
      ...paths,
      "/sqlite/random-5fields/",
      "/sqlite/random-5fields/1/2",
      "/sqlite/random-6fields/1",
    ]) {
      const response = await get(path);
      expect([path, response.status, await response.text()]).toEqual([path, 404, '{"error":"not found"}']);
      expect(mediaType(response)).toBe("application/json");
    }
    for (const method of ["POST", "PUT", "DELETE"]) {
      const response = await get("/plain", { method });
      expect([method, response.status, await response.text()]).toEqual([method, 404, '{"error":"not found"}']);
    }
  });

  test("HEAD answers as GET, without the body", async () => {
    const client = await openClient(server.port);
    const headOf = async (path: string, method: string) => {
      const answer = await client.ask(path, method);
      const [head = ""] = answer.split("\r\n\r\n", 1);
      expect([path, answer.length > head.length + 4]).toEqual([path, method === "GET"]);
      const [status = "", ...headers] = head.toLowerCase().split("\r\n");
      // Headers about sending a body may be missing for HEAD (RFC 9110, 9.3.2), and rows differ in length.
      const left =
        name in HEAD_WITHOUT_LENGTH ? /^(date|transfer-encoding|content-length):/ : /^(date|transfer-encoding):/;
      const same = headers.filter((header) => !left.test(header)).sort();
      return [
        status.slice(0, 12),
        ...same.map((header) => (path.endsWith("/1") ? header.replace(/\d+$/, "n") : header)),
      ];
    };
    for (const path of ["/plain", "/html-template", "/sqlite/random-5fields/1", "/sqlite/random-5fields/0", "/nope"])
      expect([path, await headOf(path, "HEAD")]).toEqual([path, await headOf(path, "GET")]);
    client.socket.destroy();
  });

  test("a request line may name the whole URL, and a host may have one letter", async () => {
    const client = await openClient(server.port);
    for (const path of ["http://a/plain", "http://localhost:3000/plain?query=ignored"]) {
      const answer = await client.ask(path);
      expect([path, answer]).toEqual([path, expect.stringMatching(/^HTTP\/1\.1 200 [\s\S]*"Hello, world!"/)]);
    }
    client.socket.destroy();
    for (const path of ["/plain", "/sqlite/random-5fields/1"])
      expect((await get(path, { headers: { host: "a" } })).status).toBe(200);
  });

  test("all servers send the same headers", async () => {
    for (const path of [
      "/",
      "/plain",
      "/html-template",
      "/sqlite/random-5fields/1",
      "/sqlite/random-30fields/10",
      "/nope",
      "/sqlite/random-5fields/0",
    ]) {
      const [, ...headers] = await rawHeaders(server.port, path);
      expect([path, ...headers]).toEqual([path, ...headersOf(name)]);
    }
  });

  if (content) contentSuite(name, workers, () => server);

  test("the server has logged nothing so far", () => {
    expect(server.output()).toBe("");
  });

  test("if a handler fails, the answer is a 500 without details, and the server continues", async () => {
    database.run("ALTER TABLE person5 RENAME TO hidden");
    try {
      for (let i = 0; i < 2 * workers; i++) {
        const response = await get("/sqlite/random-5fields/1");
        expect([response.status, await response.text()]).toEqual([500, '{"error":"internal error"}']);
        expect((await get("/plain")).status).toBe(200);
      }
      await until(() => server.output().includes("person5"));
    } finally {
      database.run("ALTER TABLE hidden RENAME TO person5");
    }
    expect((await get("/sqlite/random-5fields/1")).status).toBe(200);
  });

  test.skipIf(!linux)("the database is open for reading only", async () => {
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
      // The first worker answers before the last has started.
      const asked = name in OPENED_TO_ANSWER ? 20 : 1;
      const answers = Array.from({ length: asked }, () => get("/sqlite/random-30fields/500"));
      await Promise.race(answers);
      try {
        open = look();
      } catch {} // closed meanwhile
      await Promise.all(answers);
    }
    expect(openers()).toBe(workers);
    expect(new Set(open.flat())).toEqual(new Set([constants.O_RDONLY]));
  });

  if (workers > 1 && supervised) {
    test.skipIf(!linux)("each worker listens on the port, and a killed worker is replaced", async () => {
      const hex = server.port.toString(16).toUpperCase().padStart(4, "0");
      const listeners = () =>
        readFileSync("/proc/net/tcp", "utf8").match(new RegExp(`:${hex} 00000000:0000 0A `, "g"))?.length;
      await until(() => listeners() === workers);
      const [victim] = workersOf(server.pid) as [number];
      process.kill(victim, "SIGKILL");
      await until(() => {
        const pids = workersOf(server.pid);
        return pids.length === workers && !pids.includes(victim) && listeners() === workers;
      });
      await until(() => server.output().includes(`worker ${victim} ended by SIGKILL`));
      for (let i = 0; i < 20; i++) expect((await get("/plain", { headers: { connection: "close" } })).status).toBe(200);
    });
  }

  test("another server cannot use the port", async () => {
    const env = { SERVER: name, DB_FILE: file, HOST: "127.0.0.1", PORT: String(server.port), WORKERS: String(workers) };
    const { code, output } = await finish(START, env);
    expect([code, output]).toEqual([1, `127.0.0.1:${server.port} is taken: choose another with PORT or HOST\n`]);
  });

  test("SIGTERM: requests in flight are answered, then exit 0", async () => {
    const path = (rows: number) => `/sqlite/random-30fields/${rows}`;
    // The server cuts requests about 4 s after SIGTERM, so these take about 1 s on this machine.
    const began = Date.now();
    await Promise.all(Array.from({ length: 20 }, async () => (await get(path(500))).text()));
    const rows = Math.max(1, Math.floor(500 * Math.min(1, 1_000 / (Date.now() - began))));
    // One short request each, so that the server has accepted every connection and none is idle.
    const clients = await Promise.all(Array.from({ length: 20 }, () => openClient(server.port)));
    await Promise.all(clients.map((client) => client.ask(path(1))));
    const answers = clients.map((client) => client.ask(path(rows)));
    const signalled = Date.now();
    server.child.kill("SIGTERM");
    for (const answer of await Promise.all(answers)) {
      expect(answer).toStartWith("HTTP/1.1 200");
      expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")))).toHaveLength(rows);
    }
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect(Date.now() - signalled).toBeLessThan(5_000); // limit of the contract
    expect(await fetch(server.url).catch(() => "refused")).toBe("refused");
  });
}

/** Matches any text if there is no such package. */
const versionIn = (file: string): string =>
  existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).version : expect.any(String);

const workersOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
