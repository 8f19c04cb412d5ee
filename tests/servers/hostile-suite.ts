/** Malformed and hostile requests, and random ones that match /openapi.json or nearly do. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { SimpleFaker } from "@faker-js/faker";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { ENDPOINTS } from "../../bench/ask/endpoints.ts";
import { verify } from "../../bench/run/targets/answers.ts";
import { readIdentity } from "../../bench/run/targets/target.ts";
import { openapi } from "../../shared/content/openapi.ts";
import { LIMITS } from "../../shared/limits.ts";
import type { Server } from "../harness.ts";

export const LONG = process.env.LONG === "1";
const REQUESTS = LONG ? 20_000 : 1_000;
const FUZZED = LONG ? 10_000 : 500;
const AT_ONCE = 50;
const never = new AbortController().signal;
const faker = new SimpleFaker();

const bytes = (length: number) => Buffer.from(faker.helpers.multiple(() => faker.number.int(255), { count: length }));
const oneOf = <T>(...values: T[]): T => faker.helpers.arrayElement(values);
const request = (path: string, headers = "", method = "GET") =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
const close = "Connection: close\r\n";

/** Bytes to send, in parts; `cut` closes the connection before the answer. */
interface Attack {
  readonly parts: readonly (string | Buffer)[];
  readonly cut?: true;
}

/** `right` matches all that comes back on the connection. */
const ATTACKS: Readonly<Record<string, { make: () => Attack; right: RegExp }>> = {
  "random bytes": {
    make: () => ({ parts: [bytes(faker.number.int({ min: 1, max: 300 })), "\r\n\r\n"] }),
    right: /^(HTTP\/1\.1 (4\d\d|505) |$)/,
  },
  "bad request line": {
    make: () => ({
      parts: [
        `${oneOf("GET", "get", "GET /plain", "/ HTTP/1.1", "GET  / HTTP/1.1", "GET / HTTP/9.9", "GET / HTTQ/1.1", "\0 / HTTP/1.1", "GET\t/\tHTTP/1.1", "G\u00e9T / HTTP/1.1")}\r\nHost: localhost\r\n\r\n`,
      ],
    }),
    right: /^(HTTP\/1\.1 [245]0\d |$)/,
  },
  "huge header": {
    make: () => ({
      parts: [request("/plain", `X: ${"x".repeat(faker.number.int({ min: 2, max: 8 }) * LIMITS.headerBytes)}\r\n`)],
    }),
    right: /^(HTTP\/1\.1 431 |$)/,
  },
  "many headers": {
    make: () => ({ parts: [request("/plain", "A: b\r\n".repeat(LIMITS.headerBytes / 3))] }),
    right: /^(HTTP\/1\.1 431 |$)/,
  },
  "long request line": {
    make: () => ({ parts: [request(`/${"x".repeat(2 * LIMITS.headerBytes)}`)] }),
    right: /^(HTTP\/1\.1 4(31|14) |$)/,
  },
  "path traversal": {
    make: () => ({
      parts: [
        request(
          oneOf(
            "/../../etc/passwd",
            "/..%2f..%2fetc/passwd",
            "/sqlite/random-5fields/..%2f..%2f..%2fdata.db",
            "/%2e%2e/%2e%2e/data.db",
            "//etc/passwd",
            "/plain/../../data.db",
          ),
          close,
        ),
      ],
    }),
    right: /^HTTP\/1\.1 40[04] (?![\s\S]*(root:|SQLite))/,
  },
  "SQL in :size": {
    make: () => ({
      parts: [
        request(
          `/sqlite/random-${oneOf("5", "30")}fields/${encodeURIComponent(oneOf("1;DROP TABLE person5", "1' OR '1'='1", "1 UNION SELECT 1", "1--", "-1", "1e9", "9".repeat(400), "\0", "1/*"))}`,
          close,
        ),
      ],
    }),
    right: /^HTTP\/1\.1 40[04] /,
  },
  "invalid UTF-8": {
    make: () => ({
      parts: [request(`/sqlite/random-5fields/${oneOf("%ff", "%c3%28", "%", "%zz", "%e2%82", "1%00")}`, close)],
    }),
    right: /^HTTP\/1\.1 40[04] /,
  },
  "raw bytes in the path": {
    make: () => ({
      parts: [
        "GET /sqlite/random-5fields/",
        Buffer.from([0xff, 0xfe, 0x80 + faker.number.int(100)]),
        ` HTTP/1.1\r\nHost: localhost\r\n${close}\r\n`,
      ],
    }),
    right: /^(HTTP\/1\.1 40[04] |$)/,
  },
  "split request": {
    make: () => ({ parts: [...request("/plain", close).matchAll(/[\s\S]{1,9}/g)].map(([part]) => part) }),
    right: /^HTTP\/1\.1 200 [\s\S]*Hello, world!/,
  },
  "body that does not come": {
    make: () => ({ parts: ["POST /plain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nabc"], cut: true }),
    right: /^(HTTP\/1\.1 40[045] |$)/,
  },
  "length and chunks": {
    make: () => ({
      parts: [
        `POST /plain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n${close}\r\n0\r\n\r\nGET /html-template HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      ],
    }),
    right: /^(?![\s\S]*Hi Ben)(HTTP\/1\.1 40[045] |$)/,
  },
  "bad chunk": {
    make: () => ({
      parts: [`POST /plain HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n`],
    }),
    right: /^(HTTP\/1\.1 40[045] |$)/,
  },
  pipelining: {
    make: () => ({ parts: [request("/plain").repeat(4) + request("/html-template", close)] }),
    right: /^(HTTP\/1\.1 200 [\s\S]*?Hello, world![\s\S]*?){4}HTTP\/1\.1 200 [\s\S]*Hi Ben/,
  },
  "early close": { make: () => ({ parts: [request("/sqlite/random-30fields/500")], cut: true }), right: /^/ },
};

/** Waits of 300 ms for an answer, in all. */
const MOST_LOOKS = 100;

/** @returns all that came back until one side closed. */
function send(port: number, { parts, cut }: Attack, right: RegExp): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    let looks = 0;
    const socket = connect(port, "127.0.0.1");
    const end = () => {
      socket.destroy();
      resolve(answer);
    };
    // Some servers keep the connection open after the answer, some wait for more of a malformed request.
    const look = () => (right.test(answer) || ++looks === MOST_LOOKS ? end() : socket.setTimeout(300));
    socket.setTimeout(300).on("timeout", look).on("error", end).on("close", end);
    socket.on("data", (data) => {
      answer += data;
    });
    socket.on("connect", async () => {
      socket.setNoDelay(true);
      for (const part of parts) {
        if (socket.destroyed) return;
        await new Promise((sent) => socket.write(part, sent));
      }
      if (cut) end();
    });
  });
}

/** Exceptions of a server that no setting removes. */
export interface Otherwise {
  /** Kinds of attack -> the answers that are right. */
  readonly answers?: Readonly<Record<string, RegExp>>;
  /** Expected log; default: none. */
  readonly log?: RegExp;
}

/** Sends attacks of all kinds, AT_ONCE at a time. @returns the wrong answers */
async function attack(port: number, count: number, { answers = {} }: Otherwise): Promise<string[]> {
  const wrong: string[] = [];
  const kinds = Object.entries(ATTACKS);
  let sent = 0;
  const one = async () => {
    while (sent < count) {
      const [kind, attack] = kinds[sent++ % kinds.length] as (typeof kinds)[0];
      const [made, right] = [attack.make(), answers[kind] ?? attack.right];
      const answer = await send(port, made, right);
      if (!right.test(answer)) {
        wrong.push(
          `${kind}: ${JSON.stringify(made.parts.join("").slice(0, 80))} -> ${JSON.stringify(answer.slice(0, 200))}`,
        );
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return wrong;
}

const schemas = new Ajv2020({ strict: false });
schemas.addSchema(openapi, "openapi");
/** With references that work outside of the document. */
const described: typeof openapi = JSON.parse(JSON.stringify(openapi).replaceAll('"#/', '"openapi#/'));

interface Schema {
  readonly $ref?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: string[];
}
interface Message {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}
interface Operation {
  readonly method: string;
  readonly path: string;
  readonly requestBody?: Message;
  readonly responses: Readonly<Record<string, Message>>;
}
const OPERATIONS: readonly Operation[] = Object.entries<object>(described.paths).flatMap(([path, operations]) =>
  Object.entries(operations)
    .filter(([method]) => method !== "parameters")
    .map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
);
const NONE: Pick<Operation, "requestBody" | "responses"> = {
  responses: { 404: { content: { "application/json": { schema: { $ref: "openapi#/components/schemas/Error" } } } } },
};

const operationOf = (method: string, path: string, served: RegExp) =>
  OPERATIONS.find(
    (one) => one.method === method && served.test(path) && RegExp(`^${one.path.replace(/{\w+}/, "[^/]+")}$`).test(path),
  ) ?? NONE;

const bodySchema = ({ requestBody }: typeof NONE): Schema => requestBody?.content?.["application/json"]?.schema ?? {};

/** The description has this answer for this operation. */
async function isDescribed(response: Response, { responses }: typeof NONE): Promise<boolean> {
  const found = responses[response.status];
  const text = await response.text();
  if (!found || response.status >= 500) return false;
  if (!found.content) return text === "";
  const [[type, { schema }]] = Object.entries(found.content) as [[string, { schema: Schema }]];
  if (!response.headers.get("content-type")?.toLowerCase().startsWith(type)) return false;
  return schemas.validate(schema, type === "application/json" ? JSON.parse(text) : text);
}

/** Few, so that requests meet on one id. */
const id = fc.constantFrom(...["0", "1", "A"].map((character) => `0${character.repeat(25)}`));
const anything = fc.string({ unit: "grapheme", maxLength: 40 });
const unstorable = fc.string({ unit: fc.constantFrom("a", "\0", "\ud800", "\udc00"), maxLength: 3 });

/** Values that match a schema. */
function fitting({ $ref, enum: values, pattern, maxLength, properties, required }: Schema): fc.Arbitrary<unknown> {
  if ($ref) return fitting(described.components.schemas[$ref.split("/").at(-1) as "Draft"] as Schema);
  if (values) return fc.constantFrom(...values);
  if (maxLength) return fc.string({ unit: "grapheme", minLength: 1, maxLength });
  if (pattern) return fc.oneof(id, id, id, fc.stringMatching(new RegExp(pattern)));
  if (!properties) return fc.jsonValue();
  const parts = Object.entries(properties).map(([name, schema]) => [name, fitting(schema)]);
  return fc.record(Object.fromEntries(parts), { requiredKeys: (required ?? []) as never[] });
}

/** Valid bodies, bodies with one changed property, any JSON, and text or bytes that are no JSON. */
function bodyOf(operation: typeof NONE): fc.Arbitrary<string | Uint8Array<ArrayBuffer>> {
  const right = fitting(bodySchema(operation)).map((body) => JSON.stringify(body));
  const name = fc.constantFrom("id", "title", "author", "status", "data", "name", "email", "__proto__", "more");
  const value = fc.oneof(fc.jsonValue(), unstorable).map((value) => JSON.stringify(value));
  const wrong = fc.tuple(right, name, value).map(([body, name, value]) => `${body.slice(0, -1)},"${name}":${value}}`);
  return fc.oneof(right, right, right, wrong, wrong, fc.json(), anything, fc.uint8Array({ maxLength: 99 }));
}

const target = fc.oneof(
  ...OPERATIONS.map((operation) => ({
    weight: operation.requestBody ? 3 : 1,
    arbitrary: bodyOf(operation).map((body) => ({ method: operation.method, path: operation.path, body })),
  })),
  {
    weight: 6,
    arbitrary: fc.record({
      method: fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH"),
      path: fc.constantFrom(...Object.keys(described.paths), "/nothing", "/sqlite/random-6fields/{size}"),
      body: fc.json(),
    }),
  },
);
const asked = fc.record({
  target,
  parameter: fc.oneof(
    fc.integer({ min: 1, max: 500 }).map(String),
    fc.integer().map(String),
    fc.double().map(String),
    id,
    id,
    anything,
  ),
  more: fc.constantFrom(
    "",
    "",
    "",
    "/",
    "//",
    "/more",
    "?a=b",
    "?limit=2&limit=0",
    "?limit=0",
    `?after=0${"0".repeat(25)}`,
  ),
  type: fc.constantFrom(...Array<string>(6).fill("application/json"), "text/plain", "application/json; charset=utf-7"),
  header: fc.oneof(fc.constant("text/html"), fc.stringMatching(/^[!-~]{1,60}$/)),
});

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/** The same process still answers all endpoints. */
export async function isWell(name: string, { url, pid }: Server): Promise<void> {
  await verify({ name, url }, ENDPOINTS, never);
  expect((await readIdentity(url, never))?.pid).toBe(pid);
}

/** Call in a `describe`. @param running returns the server @param served the described paths that it has */
export function hostileSuite(name: string, running: () => Server, served = /^/, otherwise: Otherwise = {}): void {
  test(`${REQUESTS} malformed or hostile requests do no harm`, async () => {
    faker.seed(1);
    expect(await attack(running().port, REQUESTS, otherwise)).toEqual([]);
    await isWell(name, running());
    expect(running().output()).toMatch(otherwise.log ?? /^$/);
  });

  test(`${FUZZED} random requests are answered as /openapi.json describes`, async () => {
    const property = fc.asyncProperty(asked, async ({ target, parameter, more, type, header }) => {
      const { method, path } = target;
      fc.pre(!/^\.\.?$/.test(parameter) && !(path === "/" && more.startsWith("/"))); // fetch rewrites such paths
      const url = new URL(running().url + path.replace(/{\w+}/, encodeURIComponent(parameter)) + more);
      const body = method === "GET" ? undefined : Buffer.from(target.body as string); // fetch adds a type to a string
      const headers = { accept: header, "x-any": header, ...(body && { "content-type": type }) };
      const response = await fetch(url, { method, headers, ...(body && { body }) });
      const operation = operationOf(method, url.pathname, served);
      expect(await isDescribed(response, operation)).toBe(true);
      if (operation === NONE) return;
      if (path.includes("{size}")) {
        expect(response.status).toBe(/^([1-9]\d?|[1-4]\d\d|500)$/.test(parameter) ? 200 : 400);
      }
      if (operation.requestBody && body) {
        const isRight = type === "application/json" && schemas.validate(bodySchema(operation), jsonOf(body));
        expect(isRight ? [200, 201, 400, 404, 409] : [400, 415, 422]).toContain(response.status);
      }
    });
    await fc.assert(property, { numRuns: FUZZED, seed: 1 });
    await isWell(name, running());
  });
}
