/** Apps of users: which requests bench sends, where it finds the app, and its error if the app cannot be loaded. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../bench/host/free-port.ts";
import {
  bench,
  finish,
  must,
  needs,
  type Program,
  resultsIn,
  rowsOf,
  run,
  scratch,
  testIf,
  works,
} from "../harness.ts";

const folder = scratch();
const newFile = resultsIn(folder);

/** Writes a program that answers with `answer`, a function of the request. @returns its command */
let programs = 0;
function program(answer: string, { before = "", listen = "listen(process.env.PORT, '127.0.0.1')" } = {}): string {
  const name = `app${++programs}.js`;
  writeFileSync(
    join(folder, name),
    `${before}\nconst answer = ${answer};\nrequire("node:http").createServer((request, response) => answer(request, response)).${listen};\n`,
  );
  return `app=node ${name}`;
}
const hello = "(request, response) => response.end('hello')";

const check = (args: readonly string[], env = {}) =>
  finish(["./bench.sh", "check", "--cwd", folder, "--results", newFile(), ...args], env);

describe("check prints what cannot be loaded, and why", () => {
  const cases: readonly [what: string, start: string, args: string[], message: string][] = [
    [
      "a redirect",
      program("(request, response) => response.writeHead(302, { location: '/login' }).end('moved')"),
      ["--endpoints", "/docs"],
      'app answers /docs with status 302 (to /login) "moved": give the path that it leads to',
    ],
    [
      "what works once",
      program(
        "(request, response) => response.writeHead(globalThis.known ? 409 : 201).end((globalThis.known = true) && 'taken')",
      ),
      ["--endpoints", "POST /register"],
      'app answers POST /register with status 409 "taken"',
    ],
    [
      "what works once, after a GET",
      program(
        "({ method }, response) => response.writeHead(method === 'GET' ? 200 : globalThis.known ? 409 : 201).end((globalThis.known ||= method !== 'GET') && 'taken')",
      ),
      ["--endpoints", "/,POST /register"],
      'app answers POST /register with status 201, then with status 409 "taken": it can be asked only once',
    ],
    [
      "an error",
      program("(request, response) => response.writeHead(500).end('no database')"),
      ["--endpoints", "/a"],
      'app answers /a with status 500 "no database": only answers with status 2xx are loaded',
    ],
    [
      "a path that it has not",
      program("({ url }, response) => response.writeHead(url === '/' ? 200 : 404).end('none')"),
      ["--ready", "/", "--endpoints", "/a"],
      'app answers /a with status 404 "none": give --endpoints with paths that it has',
    ],
    [
      "a redirect to HTTPS",
      program(
        "({ headers, url }, response) => response.writeHead(301, { location: 'https://' + headers.host + url }).end()",
      ),
      ["--endpoints", "/docs"],
      "it wants HTTPS: turn that off for the run, or give --header 'x-forwarded-proto: https'",
    ],
    [
      "a login",
      program("(request, response) => response.writeHead(401).end('who?')"),
      ["--endpoints", "/a"],
      'app answers /a with status 401 "who?": give what it asks for, with --header or --requests',
    ],
    [
      "a rate limit",
      program(
        "(request, response) => response.writeHead((globalThis.n = (globalThis.n ?? 0) + 1) > 2 ? 429 : 200).end('slow')",
      ),
      ["--endpoints", "/a"],
      'app answers /a with status 429 "slow": turn its rate limit off for the run',
    ],
    [
      "HTTP/2",
      program(hello, {
        listen: "close(); require('node:http2').createServer(answer).listen(process.env.PORT, '127.0.0.1')",
      }),
      ["--endpoints", "/a"],
      "/a is not answered in HTTP/1.1 (HPE_INVALID_CONSTANT)",
    ],
    [
      "a process that goes to the background",
      `${program(hello)} &`,
      [],
      "app did not start: it ended by 0: start it in the foreground",
    ],
    ["a variable in the place of a name", "PORT=3000 node app.js", [], "PORT is a variable: write a name before it"],
    ["a port by --env", program(hello), ["--env", "PORT=3000"], "each server gets a port of its own: give --port"],
    ["a --ready that is no path", program(hello), ["--ready", "health"], '--ready "health": a path starts with /'],
    ["a --cwd that is a file", program(hello), ["--cwd", join(folder, "app1.js")], "there is no such folder"],
    [
      "a reason on stdout",
      program(hello, { before: "console.log('DATABASE_URL is not set'); process.exit(1);" }),
      [],
      "app did not start: DATABASE_URL is not set",
    ],
  ];
  for (const [what, start, args, message] of cases) {
    test(what, async () => {
      const { code, output } = await check(["--start", start, ...args]);
      expect([code, output]).toEqual([1, expect.stringContaining(message)]);
    });
  }
});

const LISTEN_AT_V6 = "require('net').createServer().listen(0, '::1', function () { this.close() })";

describe("bench finds an app where it listens", () => {
  const v6 = program(hello, { listen: "listen(process.env.PORT, '::1')" });
  testIf(works("node", "-e", LISTEN_AT_V6), "this machine has no IPv6", "at ::1 only", async () => {
    const { code, output } = await check(["--start", v6]);
    expect([code, output]).toEqual([0, expect.stringMatching(/^app at http:\/\/\[::1\]:\d+/m)]);
  });

  testIf(...needs("linux"), "a port of its own is named", async () => {
    const port = await freePort();
    const { code, output } = await check(["--start", program(hello, { listen: `listen(${port}, '127.0.0.1')` })]);
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(new RegExp(`app listens on port ${port}, not on PORT \\(\\d+\\): give --port ${port}`)),
    ]);
  });

  test("a proxy in the environment is not used", async () => {
    const proxy = { HTTP_PROXY: "http://127.0.0.1:9", http_proxy: "http://127.0.0.1:9", NO_PROXY: "", no_proxy: "" };
    const { code, output } = await check(
      ["--start", program(hello), "--servers", "bun-raw", "--endpoints", "/"],
      proxy,
    );
    expect([code, output]).toEqual([0, expect.stringMatching(/^bun-raw at[\s\S]*^app at/m)]);
  });

  testIf(...needs("openssl"), "HTTPS with a certificate of its own requires --insecure", async () => {
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    must([
      "openssl",
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-subj",
      "/CN=localhost",
      "-keyout",
      key,
      "-out",
      cert,
    ]);
    writeFileSync(
      join(folder, "tls.js"),
      `const { readFileSync } = require("node:fs");
require("node:https").createServer({ key: readFileSync(${JSON.stringify(key)}), cert: readFileSync(${JSON.stringify(cert)}) }, (request, response) => response.end("x")).listen(process.env.PORT, "127.0.0.1");`,
    );
    const start = ["--start", "tls=node tls.js"];
    const refused = await check(start);
    expect([refused.code, refused.output]).toEqual([1, expect.stringMatching(/tls speaks HTTPS: .* give --insecure/)]);
    const file = newFile();
    const { code, output } = await finish(bench(file, ...start, "--cwd", folder, "--endpoints", "/", "--insecure"));
    expect([code, output]).toEqual([0, expect.stringContaining("200 requests/s of / keep")]);
    expect(rowsOf(file).every((row) => row["Error Count"] === "0")).toBe(true);
  });
});

test("requests are sent as written: bytes of UTF-8, a list with spaces, HOST with --env", async () => {
  const start = program(
    "({ headers, method }, response) => response.writeHead(method === 'HEAD' || Buffer.from(headers.name, 'latin1').toString() === 'Zoë 日本' && process.env.HOST === '::' ? 200 : 500).end()",
  );
  const args = ["--endpoints", "/a,, POST /b,", "--header", "name: Zoë 日本", "--env", "HOST=::"];
  const { code, output } = await check(["--start", start, ...args]);
  expect([code, output]).toEqual([0, expect.stringMatching(/^\/a .*\nPOST \/b /m)]);
});

test("answers without a body, after informational answers, and with trailers cause no errors", async () => {
  const start = program(
    `({ method, url }, response) => {
  if (url === "/204") return response.writeHead(204).end();
  if (url === "/103") response.writeEarlyHints({ link: "</a.css>; rel=preload; as=style" });
  if (url === "/trailers") response.writeHead(200, { trailer: "x-sum" });
  if (url === "/trailers") response.addTrailers({ "x-sum": "1" });
  response.write("x");
  response.end("y");
}`,
  );
  const file = newFile();
  const { code, output } = await finish(
    bench(file, "--start", start, "--cwd", folder, "--endpoints", "/204,/103,/trailers,HEAD /"),
  );
  expect([code, output]).toEqual([0, expect.stringContaining(" slices in ")]);
  for (const row of rowsOf(file)) {
    expect([row.Endpoint, row["Error Count"]]).toEqual([row.Endpoint, "0"]);
    expect(Number(row.QPS)).toBeGreaterThan(100);
  }
});

test("answers above 128 KiB, binary bodies and paths with our own names are loaded as written", async () => {
  const seen = join(folder, "seen");
  const start = program(
    `(request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part)).on("end", () => {
    fs.appendFileSync(${JSON.stringify(seen)}, request.method + " " + request.url + " " + Buffer.concat(parts).toString("hex") + "\\n");
    response.end(request.url === "/page" ? "x".repeat(400_000) : "x");
  });
}`,
    { before: 'const fs = require("node:fs");' },
  );
  const entry = (method: string, path: string, postData?: object) => ({
    request: { method, url: `http://a${path}`, headers: [], ...(postData && { postData }) },
    response: { status: 200 },
  });
  const har = join(folder, "own.har");
  const binary = { mimeType: "application/octet-stream", text: "AAEC/w==", encoding: "base64" };
  const entries = [
    entry("GET", "/page"),
    entry("POST", "/tx", binary),
    entry("GET", "/plain"),
    entry("GET", "/items?ids=1,2"),
  ];
  writeFileSync(har, JSON.stringify({ log: { entries } }));
  const file = newFile();
  const { code, output } = await finish(bench(file, "--start", start, "--cwd", folder, "--requests", har));
  expect([code, output]).toEqual([0, expect.stringContaining(" slices in ")]);
  for (const row of rowsOf(file)) expect([row.Endpoint, row["Error Count"]]).toEqual([row.Endpoint, "0"]);
  const asked = new Set((await Bun.file(seen).text()).split("\n").filter(Boolean));
  expect(asked).toEqual(new Set(["GET /page ", "POST /tx 000102ff", "GET /plain ", "GET /items?ids=1,2 "]));
});

test("a server that closes connections is measured, and failing answers are shown", async () => {
  writeFileSync(
    join(folder, "closing.js"),
    `const server = require("node:http").createServer((request, response) => response.end("x"));
server.maxRequestsPerSocket = 5;
server.listen(process.env.PORT, "127.0.0.1");`,
  );
  writeFileSync(
    join(folder, "failing.js"),
    `let n = 0;
require("node:http").createServer((request, response) => {
  response.statusCode = ++n > 100 && n % 4 === 0 ? 503 : 200;
  response.end(response.statusCode === 200 ? "x" : "too busy");
}).listen(process.env.PORT, "127.0.0.1");`,
  );
  const start = ["--start", "closing=node closing.js", "--start", "failing=node failing.js", "--cwd", folder];
  const { code, output } = await finish(bench(newFile(), ...start, "--endpoints", "/"));
  expect([code, output]).toEqual([
    0,
    expect.stringMatching(/^closing closes its connections, one in about \d+ requests/m),
  ]);
  expect(output).not.toContain("closing at /:");
  expect(output).toMatch(/^failing at \/: \d+ of \d+ requests failed: 503 × \d+, e\.g\. status 503 "too busy"$/m);
});

testIf(...needs("linux"), "CPU time is that of the process that listens, whoever started it", async () => {
  writeFileSync(
    join(folder, "own.js"),
    `require("node:http").createServer((request, response) => response.end("x")).listen(process.env.PORT, "127.0.0.1");`,
  );
  // Starts servers for other processes, as a container engine does.
  const started: Program[] = [];
  const engine = Bun.serve({
    port: 0,
    async fetch(request) {
      started.push(run(["node", join(folder, "own.js")], { PORT: await request.text() }));
      return new Response();
    },
  });
  writeFileSync(
    join(folder, "client.js"),
    `fetch("${engine.url}", { method: "POST", body: process.env.PORT }); setInterval(() => {}, 1e6);`,
  );
  try {
    const file = newFile();
    const start = ["--start", "client=node client.js", "--cwd", folder, "--endpoints", "/"];
    const { code, output } = await finish(bench(file, ...start));
    expect([code, output]).toEqual([0, expect.stringMatching(/^client: CPU time and memory are those of node/m)]);
    for (const { CpuUsPerRequest } of rowsOf(file)) expect(Number(CpuUsPerRequest)).toBeGreaterThan(1);
  } finally {
    for (const { child } of started) child.kill();
    engine.stop(true);
  }
});
