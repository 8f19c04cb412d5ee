/** Requests that are none, and any that fit /openapi.json or nearly so: servers in other languages answer as the ten do. */
import { afterAll, beforeAll } from "bun:test";
import { join } from "node:path";
import { STACKS } from "../../bench/ask/targets.ts";
import { describeIf, endServer, type Server, scratch, startServer } from "../harness.ts";
import { hostileSuite, type Otherwise } from "../servers/hostile-suite.ts";
import { buildAll } from "./build.ts";

const folder = scratch();
const builds = buildAll();
const READ = /^\/($|plain|html-template|sqlite)/;

/** How long a head may be cannot be set: what is longer than 16 KiB may be answered. */
const ANY_HEAD = {
  "huge header": /^(HTTP\/1\.1 (200|400|431) |$)/,
  "many headers": /^(HTTP\/1\.1 (200|400|431) |$)/,
  "long request line": /^(HTTP\/1\.1 (400|404|414) |$)/,
};
/** What is no request, or of an unknown version, is answered in HTTP/1.0. */
const OLD_VERSION = {
  "random bytes": /^(HTTP\/1\.[01] (4\d\d|505) |$)/,
  "bad request line": /^(HTTP\/1\.[01] [245]0\d |$)/,
  "huge header": /^(HTTP\/1\.[01] 431 |$)/,
  "many headers": /^(HTTP\/1\.[01] 431 |$)/,
  "long request line": /^(HTTP\/1\.[01] 4(31|14) |$)/,
};
/** Netty takes any version, and repeats it in the answer. */
const ANY_VERSION = { "bad request line": /^(HTT\w\/\d\.\d [245]0\d |$)/ };

const OTHERWISE: Readonly<Record<string, Otherwise>> = {
  "elixir-phoenix": { answers: { ...OLD_VERSION, "length and chunks": /^(HTTP\/1\.[01] 400 |$)/ } },
  "java-quarkus": { answers: { ...OLD_VERSION, ...ANY_VERSION } },
  "java-quarkus-v2": { answers: { ...OLD_VERSION, ...ANY_VERSION } },
  "java-spring-webflux": { answers: ANY_VERSION },
  "node-next": {
    // A page of its own for a path that cannot be decoded, and a redirect for `//`.
    answers: { "invalid UTF-8": /^HTTP\/1\.1 [45]00 /, "path traversal": /^HTTP\/1\.1 (308|40[04]) (?![\s\S]*root:)/ },
  },
  "python-fastapi": { answers: ANY_HEAD },
  // Of requests that come together bjoern answers the last.
  "python-flask-bjoern": { answers: { ...ANY_HEAD, pipelining: /^HTTP\/1\.1 200 / } },
  "python-flask-waitress": { answers: OLD_VERSION },
  // Puma logs each request that is none, and has no option against that.
  "ruby-rails": { answers: { ...OLD_VERSION, ...ANY_HEAD }, log: /^(.* HTTP parse error, .*\n)*$/ },
  "rust-actix": { answers: ANY_HEAD },
  "rust-axum": { answers: ANY_HEAD },
  "rust-rocket": { answers: ANY_HEAD },
};

for (const [name, { workloads }] of Object.entries(STACKS)) {
  const { isBuilt = false, reason = "" } = builds.get(name) ?? {};
  describeIf(isBuilt, reason, name, () => {
    let server: Server;
    beforeAll(async () => {
      server = await startServer({ SERVER: name, CONTENT_FILE: join(folder, `${name}.db`) });
    });
    afterAll(() => endServer(server));

    hostileSuite(name, () => server, workloads.includes("content") ? undefined : READ, OTHERWISE[name]);
  });
}
