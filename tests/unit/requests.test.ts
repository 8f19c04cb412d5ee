/** What people write as requests, and what is asked: files of editors, recordings of browsers, options. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fillIn, readRequests, requestOf, withOptions } from "../../bench/ask/requests.ts";
import type { Request } from "../../bench/load/request.ts";
import { scratch } from "../harness.ts";

const folder = scratch();
let files = 0;

/** Writes a file in a folder of its own, beside others. @returns its path */
function written(name: string, text: string, beside: Readonly<Record<string, string>> = {}): string {
  const own = join(folder, String(++files));
  mkdirSync(own);
  for (const [other, content] of Object.entries({ ...beside, [name]: text })) writeFileSync(join(own, other), content);
  return join(own, name);
}

const short = ({ method, path, headers, body }: Request): string =>
  [
    method,
    path,
    ...Object.entries(headers).map((field) => field.join(":")),
    ...(body === undefined ? [] : [body]),
  ].join(" ");

/** @returns each request as one line. */
async function requestsIn(file: string, options = {}): Promise<string[]> {
  const { requests } = await readRequests({ file, ...options });
  return Object.values(requests).map(short);
}

const http = (text: string, beside = {}) => requestsIn(written("a.http", text, beside));

describe("an .http file", () => {
  const understood: readonly [what: string, text: string, expected: string[], beside?: object][] = [
    [
      "a GET and headers",
      "GET /items?limit=10 HTTP/1.1\nAuthorization: Bearer abc\nX: a:b\n",
      ["GET /items?limit=10 authorization:Bearer abc x:a:b"],
    ],
    [
      "a body",
      'POST /a\ncontent-type: application/json\n\n{"a":\n1}\n',
      ['POST /a content-type:application/json {"a":\n1}'],
    ],
    ["a body in a file", "POST /a\n\n< body.json\n", ["POST /a x"], { "body.json": "x" }],
    ["a path alone", "/short\n", ["GET /short"]],
    [
      "variables in variables, defined in any order",
      "@h = localhost\n@base = http://{{h}}:3000\n@u = 42\n\nGET {{base}}/users/{{u}}\n",
      ["GET /users/42"],
    ],
    [
      "names with dots and dashes",
      "@Shop.Api_Host = http://localhost:1\n@api-key = k\n\nGET {{Shop.Api_Host}}/a/\nx-key: {{api-key}}\n",
      ["GET /a/ x-key:k"],
    ],
    [
      "hosts of all kinds, which are ignored",
      [
        "localhost:3000/a",
        "127.0.0.1:3000/b",
        "example.com/c",
        "{{host}}/d",
        ":3000/e",
        "[::1]:3000/g",
        "https://x.org",
      ]
        .map((url) => `GET ${url}`)
        .join("\n\n###\n"),
      ["/a", "/b", "/c", "/d", "/e", "/g", "/"].map((path) => `GET ${path}`),
    ],
    ["a Host header, which is ignored", "GET /h HTTP/1.1\nHost: api.example.com\n", ["GET /h"]],
    ["a byte order mark", "\uFEFFPOST /items\n", ["POST /items"]],
    ["spaces in a query", "GET /search?q=two words\n", ["GET /search?q=two%20words"]],
    ["a query on lines of its own", "GET /search\n  ?q=1\n  &page=2\n", ["GET /search?q=1&page=2"]],
    ["HTTP/2 as httpyac writes it", "GET /items HTTP/2 (Prior Knowledge)\n", ["GET /items"]],
    ["a line that is indented", "  GET /items\n", ["GET /items"]],
    ["comments and names", "### first\n# @name first\n// a comment\nGET /items\n", ["GET /items"]],
    [
      "an environment, if there is one",
      "GET /a\nx: {{tenant}}\n",
      ["GET /a x:t1"],
      { "http-client.env.json": '{"dev":{"tenant":"t1"}}' },
    ],
    [
      "scripts of IntelliJ, which do not run",
      "### a\nPOST /a\n\n{}\n\n> {% client.test('x', () => {}); %}\n\n<> 2026.json\n\n### b\n< {%\n  request.variables.set('n', 7);\n%}\nGET /b\n",
      ["POST /a {}", "GET /b"],
    ],
    ["a request that is disabled", "# @disabled\nGET /a\n\n###\nGET /b\n", ["GET /b"]],
    [
      "equal requests, once",
      "GET /a\n\n###\nGET /a\n\n###\nPOST /a\n\n1\n\n###\nPOST /a\n\n2\n",
      ["GET /a", "POST /a 1", "POST /a 2"],
    ],
  ];
  for (const [what, text, expected, beside = {}] of understood) {
    test(what, async () => expect(await http(text, beside)).toEqual(expected));
  }

  const refused: readonly [text: string, message: string][] = [
    ["post /items\n", 'line 1: "post /items": write it as METHOD URL'],
    [
      "GET /a\n\n###\ncurl -X POST http://localhost/items -d '{}'\n",
      `line 4: "curl -X POST http://localhost/items -d '{}'": write it`,
    ],
    ["GET /items // all of them\n", 'line 1: "GET /items // all of them": write it'],
    ["nonsense\n", 'line 1: "nonsense": write it as METHOD URL'],
    ["WEBSOCKET ws://localhost:3000/live\n", "only HTTP can be loaded"],
    ["GET /a\nx: {{tenant}}\n", "line 2: {{tenant}} is not defined"],
    ["POST /a\n\n< none.json\n", "none.json cannot be read"],
    ["# nothing\n", "has no request"],
    ["GET /\n\n?? status == 302\n", "expects 302: only 2xx"],
  ];
  for (const [text, message] of refused) test(message, () => expect(http(text)).rejects.toThrow(message));

  test("an environment that there is not is refused", () => {
    const file = written("a.http", "GET /a\n", { "http-client.env.json": '{"dev":{},"live":{}}' });
    expect(requestsIn(file, { environment: "prod" })).rejects.toThrow("has dev, live: choose one of them");
  });

  const LOGIN = `# @name login
POST /login
Content-Type: application/json

{"user":"a"}

###
@token = {{login.response.body.$.token}}
GET /mine/{{$guid}}
Authorization: Bearer {{token}}
`;

  test("values of other answers are asked of each server, once", async () => {
    const { requests, live } = await readRequests({ file: written("a.http", LOGIN) });
    expect(Object.keys(requests)).toEqual(["POST /login", "/mine/{{$guid}}"]);
    const asked: string[] = [];
    const filled = await fillIn(live as NonNullable<typeof live>, requests, async (request) => {
      asked.push(short(request));
      const body = Buffer.from('{"token":"secret"}');
      return { status: 200, headers: { "content-type": "application/json" }, body, ms: 1 };
    });
    expect(asked).toEqual(['POST /login content-type:application/json {"user":"a"}']);
    expect(filled["/mine/{{$guid}}"]?.headers).toEqual({ authorization: "Bearer secret" });
    expect(filled["/mine/{{$guid}}"]?.path).toMatch(/^\/mine\/[0-9a-f-]{36}$/);
  });

  test("scripts run if that is allowed", async () => {
    const text = "GET /a\n\n> {% client.global.set('token', response.body.token); %}\n\n###\nGET /b\nx: {{token}}\n";
    const file = written("a.http", text);
    const { requests, live } = await readRequests({ file, allowScripts: true });
    const filled = await fillIn(live as NonNullable<typeof live>, requests, async () => {
      const body = Buffer.from('{"token":"t"}');
      return { status: 200, headers: { "content-type": "application/json" }, body, ms: 1 };
    });
    expect(filled["/b"]?.headers).toEqual({ x: "t" });
  });
});

describe("a HAR", () => {
  const har = (entries: unknown) => written("a.har", JSON.stringify({ log: { entries } }));
  const entry = (method: string, url: string, status: number | null, more: object = {}) => ({
    request: {
      method,
      url,
      headers: [
        { name: ":authority", value: "x" },
        { name: "If-None-Match", value: "1" },
      ],
      ...more,
    },
    ...(status !== null && { response: { status } }),
  });

  test("the requests to the origin of most, that were answered with 2xx; a line says what is left out", async () => {
    const file = har([
      entry("GET", "http://other/first", 200),
      entry("GET", "http://a/x?y=1", 200),
      entry("GET", "http://a/x?y=1", 200),
      entry("GET", "http://a/moved", 302),
      entry("GET", "http://a/known", 304),
      entry("GET", "http://a/blocked", 0),
      entry("GET", "http://a/none", 404),
      entry("GET", "ws://a/live", 101),
      entry("get", "http://a/made", null),
    ]);
    const { requests, notes } = await readRequests({ file });
    expect(requests).toEqual({
      "/x?y=1": { method: "GET", path: "/x?y=1", headers: {} },
      "/made": { method: "GET", path: "/made", headers: {} },
    });
    expect(notes).toEqual([
      `${file}: left out: 1 to other origins, 1 redirect, 1 answered from the cache (304), 1 blocked, 1 failed (404), 1 WebSocket`,
      `${file}: 1 equal to another one, loaded once`,
    ]);
  });

  test("bodies: text, fields of forms, parts, base64", async () => {
    const post = (postData: object) => entry("POST", `http://a/${++files}`, 200, { postData });
    const file = har([
      post({ mimeType: "application/json", text: "{}" }),
      post({
        mimeType: "application/x-www-form-urlencoded",
        params: [{ name: "user", value: "ada b" }, { name: "keep" }],
      }),
      post({
        mimeType: "multipart/form-data; boundary=X",
        params: [{ name: "f", fileName: "a.txt", contentType: "text/plain", value: "hi" }],
      }),
      post({ mimeType: "application/octet-stream", text: "AAEC/w==", encoding: "base64" }),
    ]);
    const { requests } = await readRequests({ file });
    expect(Object.values(requests).map(({ headers, body, base64 }) => [headers["content-type"], body, base64])).toEqual(
      [
        ["application/json", "{}", undefined],
        ["application/x-www-form-urlencoded", "user=ada+b&keep=", undefined],
        [
          "multipart/form-data; boundary=X",
          '--X\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nhi\r\n--X--\r\n',
          undefined,
        ],
        ["application/octet-stream", "AAEC/w==", true],
      ],
    );
  });

  test("a byte order mark is read; what is no HAR is one line", async () => {
    const marked = written("b.har", `\uFEFF${JSON.stringify({ log: { entries: [entry("GET", "http://a/b", 200)] } })}`);
    expect(await requestsIn(marked)).toEqual(["GET /b"]);
    for (const text of ["{", "[]", "null", '{"entries":[]}', '{"log":{"entries":{"0":{}}}}'])
      expect(requestsIn(written("bad.har", text))).rejects.toThrow("is no HAR");
    expect(requestsIn(har([null, {}]))).rejects.toThrow("has no request that can be loaded");
  });
});

test("--header and --body", () => {
  const requests = withOptions(["/a", "POST /b"], ["X-Key: 1"], '{"a":1}');
  expect(requestOf("/a", requests)).toEqual({ method: "GET", path: "/a", headers: { "x-key": "1" } });
  expect(requestOf("POST /b", requests)).toEqual({
    method: "POST",
    path: "/b",
    headers: { "content-type": "application/json", "x-key": "1" },
    body: '{"a":1}',
  });
  expect(() => withOptions(["/"], ["nonsense"])).toThrow("write it as 'name: value'");
});

test("our own names mean what is ours in our workloads only", () => {
  expect(requestOf("POST /users")).toEqual({ method: "POST", path: "/users", headers: {} });
  expect(requestOf("POST /users", {}, "users").status).toBe(201);
  expect(requestOf("POST /tx", {}, "tpcb").body).toContain("aid");
});
