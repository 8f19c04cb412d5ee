/** Requests that are malformed or hostile. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { SimpleFaker } from "@faker-js/faker";
import { ENDPOINTS } from "../../bench/ask/endpoints.ts";
import { verify } from "../../bench/run/targets/answers.ts";
import { readIdentity } from "../../bench/run/targets/target.ts";
import { LIMITS } from "../../shared/limits.ts";
import type { Server } from "../harness.ts";
import type { Strictness } from "../strictness.ts";

/** `LONG=1` runs the long form. */
export const LONG = process.env.LONG === "1";
const REQUESTS = LONG ? 20_000 : 300;
const AT_ONCE = 50;
const never = new AbortController().signal;
const faker = new SimpleFaker();

const bytes = (length: number) => Buffer.from(faker.helpers.multiple(() => faker.number.int(255), { count: length }));
const oneOf = <T>(...values: T[]): T => faker.helpers.arrayElement(values);
const request = (path: string, headers = "", method = "GET") =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
const close = "Connection: close\r\n";

/** The bytes to send, in parts; `cut` closes the connection before the answer. */
interface Attack {
  readonly parts: readonly (string | Buffer)[];
  readonly cut?: true;
}

interface Kind {
  readonly make: () => Attack;
  /** Matches the text of all answers of one connection, from any server. */
  readonly right?: RegExp;
  /** Also matches the answers of the ten servers. */
  readonly exactly?: RegExp;
}
const ATTACKS: Readonly<Record<string, Kind>> = {
  "random bytes": {
    make: () => ({ parts: [bytes(faker.number.int({ min: 1, max: 300 })), "\r\n\r\n"] }),
    exactly: /^(HTTP\/1\.1 (4\d\d|505) |$)/,
  },
  "bad request line": {
    make: () => ({
      parts: [
        `${oneOf("GET", "get", "GET /plain", "/ HTTP/1.1", "GET  / HTTP/1.1", "GET / HTTP/9.9", "GET / HTTQ/1.1", "\0 / HTTP/1.1", "GET\t/\tHTTP/1.1", "G\u00e9T / HTTP/1.1")}\r\nHost: localhost\r\n\r\n`,
      ],
    }),
    exactly: /^(HTTP\/1\.1 [245]0\d |$)/,
  },
  "huge header": {
    make: () => ({
      parts: [request("/plain", `X: ${"x".repeat(faker.number.int({ min: 2, max: 8 }) * LIMITS.headerBytes)}\r\n`)],
    }),
    exactly: /^(HTTP\/1\.1 431 |$)/,
  },
  "many headers": {
    make: () => ({ parts: [request("/plain", "A: b\r\n".repeat(LIMITS.headerBytes / 3))] }),
    exactly: /^(HTTP\/1\.1 431 |$)/,
  },
  "long request line": {
    make: () => ({ parts: [request(`/${"x".repeat(2 * LIMITS.headerBytes)}`)] }),
    exactly: /^(HTTP\/1\.1 4(31|14) |$)/,
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
    right: /^(?![\s\S]*(root:|SQLite))/,
    exactly: /^HTTP\/1\.1 40[04] /,
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
    exactly: /^HTTP\/1\.1 40[04] /,
  },
  "raw bytes in the path": {
    make: () => ({
      parts: [
        "GET /sqlite/random-5fields/",
        Buffer.from([0xff, 0xfe, 0x80 + faker.number.int(100)]),
        ` HTTP/1.1\r\nHost: localhost\r\n${close}\r\n`,
      ],
    }),
    exactly: /^(HTTP\/1\.1 40[04] |$)/,
  },
  "split request": {
    make: () => ({ parts: [...request("/plain", close).matchAll(/[\s\S]{1,9}/g)].map(([part]) => part) }),
    right: /^HTTP\/1\.1 200 [\s\S]*Hello, world!/,
  },
  "body that does not come": {
    make: () => ({ parts: ["POST /plain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nabc"], cut: true }),
    exactly: /^(HTTP\/1\.1 40[045] |$)/,
  },
  "length and chunks": {
    make: () => ({
      parts: [
        `POST /plain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n${close}\r\n0\r\n\r\nGET /html-template HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      ],
    }),
    right: /^(?![\s\S]*Hi Ben)/,
    exactly: /^(HTTP\/1\.1 40[045] |$)/,
  },
  "bad chunk": {
    make: () => ({
      parts: [`POST /plain HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n`],
    }),
    exactly: /^(HTTP\/1\.1 40[045] |$)/,
  },
  pipelining: {
    make: () => ({ parts: [request("/plain").repeat(4) + request("/html-template", close)] }),
    right: /^(HTTP\/1\.1 200 [\s\S]*?Hello, world![\s\S]*?){4}HTTP\/1\.1 200 [\s\S]*Hi Ben/,
  },
  "early close": { make: () => ({ parts: [request("/sqlite/random-30fields/500")], cut: true }) },
};

/** After so many waits of 300 ms, an answer that is still wrong counts as wrong. */
const MOST_LOOKS = 100;

/** @returns the bytes received until the server or this side closes the connection. */
function send(port: number, { parts, cut }: Attack, isRight: (answer: string) => boolean): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    let looks = 0;
    const socket = connect(port, "127.0.0.1");
    const end = () => {
      socket.destroy();
      resolve(answer);
    };
    // Servers keep a connection open after an answer, and some wait for more bytes of a malformed request.
    const look = () => (isRight(answer) || ++looks === MOST_LOOKS ? end() : socket.setTimeout(300));
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

/** Sends attacks of all kinds, some at the same time. @returns the wrong answers */
async function attack(port: number, count: number, exact: boolean): Promise<string[]> {
  const wrong: string[] = [];
  const kinds = Object.entries(ATTACKS);
  let sent = 0;
  const one = async () => {
    while (sent < count) {
      const [kind, { make, right, exactly }] = kinds[sent++ % kinds.length] as (typeof kinds)[0];
      const expected = [right, exact ? exactly : undefined].filter((one) => one !== undefined);
      const isRight = (answer: string) => expected.every((one) => one.test(answer));
      const made = make();
      const answer = await send(port, made, isRight);
      if (!isRight(answer)) {
        wrong.push(
          `${kind}: ${JSON.stringify(made.parts.join("").slice(0, 80))} -> ${JSON.stringify(answer.slice(0, 200))}`,
        );
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return wrong;
}

/** Expects that the same process still answers everything correctly. */
export async function isWell({ url, pid }: Server): Promise<void> {
  await verify({ name: url, url }, ENDPOINTS, never);
  expect((await readIdentity(url, never))?.pid).toBe(pid);
}

/** Runs in a `describe`. @param running returns the server, once it is up */
export function attackSuite(running: () => Server, { exact }: Strictness): void {
  test(`${REQUESTS} requests that are malformed or hostile`, async () => {
    faker.seed(1);
    expect(await attack(running().port, REQUESTS, exact)).toEqual([]);
    await isWell(running());
    if (exact) expect(running().output()).toBe("");
  });
}
