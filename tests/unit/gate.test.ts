import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readRequests, requestOf, withOptions } from "../../bench/ask/requests.ts";
import { gateVerdict, worst } from "../../bench/judge/gate.ts";
import { copiesOf } from "../../bench/run/until-decided.ts";
import { type GateReport, gateMarkdown, gateText } from "../../bench/tell/gate.ts";
import { scratch } from "../harness.ts";

const folder = scratch();

test("a gate is slower only for sure and by more than the limit, not slower only for sure", () => {
  const verdict = (estimate: number, low: number, high: number) => gateVerdict({ estimate, low, high }, 0.05);
  expect(verdict(1.06, 1.01, 1.12)).toBe("slower");
  expect(verdict(1.06, 0.99, 1.12)).toBe("undecided");
  expect(verdict(1.04, 1.01, 1.08)).toBe("undecided");
  expect(verdict(1.04, 1.03, 1.049)).toBe("not slower");
  expect(verdict(0.5, 0.4, 0.6)).toBe("not slower");
  expect(verdict(1, 0, Number.POSITIVE_INFINITY)).toBe("undecided");
  expect(worst(["not slower", "undecided", "slower"])).toBe("slower");
  expect(worst(["not slower", "undecided"])).toBe("undecided");
  expect(worst(["not slower"])).toBe("not slower");
});

test("neither who is started first nor who plays second makes equal copies of one side different", () => {
  const cost = (block: number, copy: string | undefined) => {
    const startedFirst = block % 2 === 1 ? "copy 1" : "copy 2";
    return (copy === startedFirst ? 0.02 : 0) + (copy === "copy 2" ? 0.05 : 0);
  };
  const guards = [1, 2, 3, 4].map((block) => {
    const [original, copy] = copiesOf(["new", "copy 1", "copy 2"], block);
    return cost(block, copy) - cost(block, original);
  });
  expect(guards.reduce((sum, one) => sum + one)).toBeCloseTo(0);
});

const measure = (base: number, ratio: number, half: number | null) => ({
  base,
  head: base * ratio,
  ratio,
  low: half && ratio - half,
  high: half && ratio + half,
});
const REPORT: GateReport = {
  version: 1,
  verdict: "slower",
  reason: null,
  failAbove: 0.05,
  base: { name: "main", commit: "a" },
  head: { name: "HEAD", commit: "b" },
  run: "2026-01-01T00:00:00.000Z",
  machine: "4 × a CPU",
  blocks: 6,
  seconds: 123.4,
  taken: 0.031,
  endpoints: [
    {
      endpoint: "/",
      verdict: "slower",
      cpuUs: measure(20, 1.1, 0.02),
      p99Ms: { ...measure(1.5, 1.2, 0.3), rate: 4_000 },
      guard: { ratio: 0.998, low: 0.99, high: 1.006 },
      warming: 1,
    },
    {
      endpoint: "POST /a",
      verdict: "not slower",
      cpuUs: measure(2_000, 0.99, 0.01),
      p99Ms: null,
      guard: { ratio: 1, low: null, high: null },
      warming: 0,
    },
  ],
  rssBytes: measure(80e6, 1.01, 0.02),
  peakRssBytes: null,
  startupMs: measure(95.4, 1, null),
};

test("what a change did, for a terminal and as Markdown", () => {
  expect(gateText(REPORT)).toMatchSnapshot();
  expect(gateMarkdown(REPORT)).toMatchSnapshot();
  const headline = (changes: Partial<GateReport>) => gateText({ ...REPORT, ...changes }).split("\n")[0];
  expect(headline({ verdict: null })).toBe("HEAD against main");
  expect(headline({ verdict: "not slower" })).toBe("HEAD against main: not slower by 5 % at any endpoint, for sure");
  expect(headline({ verdict: "not measured", reason: "why" })).toBe("HEAD against main: not measured: why");
});

describe("requests", () => {
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  test("of an .http file", () => {
    writeFileSync(join(folder, "body.json"), '{"b":1}');
    const requests = readRequests(
      file(
        "a.http",
        `@host = http://localhost:3000
@token = abc
# a comment
GET {{host}}/items?limit=10 HTTP/1.1
Authorization: Bearer {{token}}
X: a:b

### second
POST /items
content-type: application/json

{"a":
1}

?? status == 201

###
POST https://example.org/items
content-type: application/json

< body.json

###

/short
`,
      ),
    );
    expect(requests).toEqual({
      "/items?limit=10": {
        method: "GET",
        path: "/items?limit=10",
        headers: { authorization: "Bearer abc", x: "a:b" },
      },
      "POST /items": {
        method: "POST",
        path: "/items",
        headers: { "content-type": "application/json" },
        body: '{"a":\n1}',
        status: 201,
      },
      "POST /items (2)": {
        method: "POST",
        path: "/items",
        headers: { "content-type": "application/json" },
        body: '{"b":1}',
      },
      "/short": { method: "GET", path: "/short", headers: {} },
    });
  });

  test("of a HAR, to the origin of the first", () => {
    const entry = (method: string, url: string, status: number, text?: string) => ({
      request: {
        method,
        url,
        headers: [
          { name: ":authority", value: "x" },
          { name: "Host", value: "x" },
          { name: "Accept", value: "text/html" },
        ],
        ...(text && { postData: { mimeType: "text/plain", text } }),
      },
      response: { status },
    });
    const entries = [
      entry("GET", "http://a/x?y=1", 200),
      entry("GET", "http://b/", 200),
      entry("PUT", "http://a/z", 204, "t"),
    ];
    expect(readRequests(file("a.har", JSON.stringify({ log: { entries } })))).toEqual({
      "/x?y=1": { method: "GET", path: "/x?y=1", headers: { accept: "text/html" }, status: 200 },
      "PUT /z": { method: "PUT", path: "/z", headers: { accept: "text/html" }, body: "t", status: 204 },
    });
  });

  test("mistakes name the file", () => {
    expect(() => readRequests(join(folder, "none.http"))).toThrow("none.http");
    expect(() => readRequests(file("empty.http", "# nothing\n"))).toThrow("has no request");
    expect(() => readRequests(file("bad.har", "{"))).toThrow("is no HAR");
    expect(() => readRequests(file("moved.http", "GET /\n\n?? status == 302\n"))).toThrow("expects 302: only 2xx");
    expect(() => withOptions(["/"], ["nonsense"])).toThrow("write it as 'name: value'");
  });

  test("of --header and --body", () => {
    const requests = withOptions(["/a", "POST /b"], ["X-Key: 1"], '{"a":1}');
    expect(requestOf("/a", requests)).toEqual({ method: "GET", path: "/a", headers: { "x-key": "1" } });
    expect(requestOf("POST /b", requests)).toEqual({
      method: "POST",
      path: "/b",
      headers: { "content-type": "application/json", "x-key": "1" },
      body: '{"a":1}',
    });
    expect(requestOf("POST /users").status).toBe(201);
  });
});
