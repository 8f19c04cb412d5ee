/** Requests that are none, and any that fit /openapi.json or nearly so: servers in other languages answer as the ten do. */
import { afterAll, beforeAll } from "bun:test";
import { join } from "node:path";
import { STACKS } from "../../bench/plan/targets.ts";
import { describeIf, type Server, scratch, startServer } from "../harness.ts";
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
/** Netty takes any version, and repeats it in the answer. */
const NETTY: Otherwise = { answers: { "bad request line": /^(HTT\w\/\d\.\d [245]0\d |$)/ } };

const OTHERWISE: Readonly<Record<string, Otherwise>> = {
  "java-quarkus": NETTY,
  "java-quarkus-v2": NETTY,
  "java-spring-webflux": NETTY,
  "node-next": {
    // A page of its own for a path that cannot be decoded, and a redirect for `//`.
    answers: { "invalid UTF-8": /^HTTP\/1\.1 [45]00 /, "path traversal": /^HTTP\/1\.1 (308|40[04]) (?![\s\S]*root:)/ },
  },
  "python-fastapi": { answers: ANY_HEAD },
  // Of requests that come together bjoern answers the last.
  "python-flask-bjoern": { answers: { ...ANY_HEAD, pipelining: /^HTTP\/1\.1 200 / } },
  // Puma logs each request that is none, and has no option against that.
  "ruby-rails": { answers: ANY_HEAD, log: /^(.* HTTP parse error, .*\n)*$/ },
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
    afterAll(async () => {
      server.child.kill(); // some have processes of their own
      await server.ended;
    });

    hostileSuite(name, () => server, workloads.includes("content") ? undefined : READ, OTHERWISE[name]);
  });
}
