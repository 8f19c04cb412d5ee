/** The requests that bench sends for what users write: files of editors, recordings of browsers, options. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fillIn, readRequests, requestOf, withOptions } from "../../bench/ask/requests.ts";
import type { Request } from "../../bench/load/request.ts";
import { scratch } from "../harness.ts";

const folder = scratch();
let files = 0;

/** Writes a file and the files beside it into a new folder. @returns its path */
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
    [
      "the same with another header, which is another request",
      "GET /a\naccept: text/html\n\n###\nGET /a\naccept: text/xml\n",
      ["GET /a accept:text/html", "GET /a accept:text/xml"],
    ],
    [
      "cookies, which are sent to the app whatever host they are written for",
      "GET https://example.com/a\nCookie: a=1\nCookie: b=2\n\n###\nGET /b\nCookie: c=3\n",
      ["GET /a cookie:a=1; b=2", "GET /b cookie:c=3"],
    ],
    ["a path that begins with two slashes", "GET http://localhost//a//b\n", ["GET //a//b"]],
    [
      "accept-encoding, which is what makes an app compress",
      "GET /a\nAccept-Encoding: br\n",
      ["GET /a accept-encoding:br"],
    ],
    [
      "remarks that ask a person, wait, or are of a client's own",
      "# @note sure?\n# @no-redirect\n# @no-cookie-jar\n# @sleep 60000\nGET /a\n",
      ["GET /a"],
    ],
    [
      "an operation of GraphQL without a name",
      'GRAPHQL /graphql\n\nquery { me { id } }\n\n{"a":1}\n',
      ['POST /graphql content-type:application/json {"query":"query { me { id } }","variables":{"a":1}}'],
    ],
    ["a value that is encoded", "@q = a b&c\nGET /a?q={{%q}}\n", ["GET /a?q=a%20b%26c"]],
    [
      "a variable of the environment, as IntelliJ writes it",
      "GET /a\nx: {{$env.NODE_ENV}}\n",
      [`GET /a x:${process.env.NODE_ENV}`],
    ],
    ["a host of two variables that are not defined", "GET {{base}}{{api}}/a\n", ["GET /a"]],
    [
      "what Visual Studio shares between environments",
      "GET /a\nx: {{a}} {{b}}\n",
      ["GET /a x:1 2"],
      { "http-client.env.json": '{"$shared":{"a":"1"},"dev":{"b":"2"}}' },
    ],
  ];
  for (const [what, text, expected, beside = {}] of understood) {
    test(what, async () => expect(await http(text, beside)).toEqual(expected));
  }

  const TWO = { "http-client.env.json": '{"dev":{"base":"http://a/api"},"live":{"base":"http://b/api"}}' };
  const refused: readonly [text: string, message: string, beside?: object][] = [
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
    ["PURGE /a\n", "PURGE cannot be loaded"],
    ["CONNECT /a\n", "CONNECT cannot be loaded"],
    ["# @loop for 3\nGET /a/{{$index}}\n", "# @loop cannot be loaded: write each request"],
    ["GET /a\nAuthorization: Digest ada secret\n", "authorization by Digest cannot be repeated: give Basic or Bearer"],
    ["GET /a\nAuthorization Bearer x\n", 'line 2: "Authorization Bearer x" is no header: write NAME: VALUE'],
    ["GET /a\nx: {{logon.response.body.$.token}}\n", "{{logon.response.body.$.token}} is not defined"],
    ["GET /a/{{%b c}}\n", "{{%b c}} is not defined"],
    ["# @prompt user Your name\nGET /a/{{user}}\n", "line 2: {{user}} is not defined"],
    [
      "GET /a\n\n> {% client.global.set('t', 1); %}\n\n###\nGET /b\nx: {{t}}\n",
      "line 7: {{t}} is not defined: define it, or give --environment or --allow-scripts",
    ],
    ["GET {{base}}/a\n", "{{base}} is not defined: give --environment dev or live", TWO],
    ["GET /a\n", "http-client.env.json cannot be read as JSON", { "http-client.env.json": '{"dev":' }],
    ['{"info":{"schema":"https://schema.getpostman.com/json/collection/v2.1.0/collection.json"}}', "is no HAR"],
  ];
  for (const [text, message, beside] of refused)
    test(message, () => expect(http(text, beside)).rejects.toThrow(message));

  test("an environment that does not exist is refused", () => {
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

  test("each server is asked once for values of other answers", async () => {
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

  test.each(["list (all", "a+b", "(x)", "[", "$1", "v1.0"])("a request may be named %s", async (name) => {
    const text = `# @name ${name}\nPOST /login\n\n###\n# @ref ${name}\nGET /mine\n\n###\nGET /other\n`;
    const { requests, live } = await readRequests({ file: written("a.http", text) });
    expect(Object.keys(requests)).toEqual(["POST /login", "/mine", "/other"]);
    const asked: string[] = [];
    await fillIn(live ?? expect.unreachable(), requests, async (request) => {
      asked.push(short(request));
      return { status: 200, headers: {}, body: Buffer.alloc(0), ms: 1 };
    });
    expect(new Set(asked)).toEqual(new Set(["POST /login"]));
  });

  test("requests that refer to an answer send its cookies, also if it is in another file", async () => {
    const text = "# @import login.http\n\n###\n# @ref login\nGET /mine\n";
    const { requests, live } = await readRequests({
      file: written("a.http", text, { "login.http": "# @name login\nPOST /login\n" }),
    });
    const cookies = "a=1; Path=/; Expires=Wed, 21 Oct 2099 07:28:00 GMT; Domain=example.com; Secure,b=2; HttpOnly";
    const filled = await fillIn(live as NonNullable<typeof live>, requests, async () => ({
      status: 200,
      headers: { "set-cookie": cookies },
      body: Buffer.alloc(0),
      ms: 1,
    }));
    expect(Object.values(requests).map(short)).toEqual(["GET /mine cookie:{{login.cookie}}"]);
    expect(Object.values(filled).map(short)).toEqual(["GET /mine cookie:a=1; b=2"]);
  });

  test("scripts run only if the user allows it", async () => {
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

  test("keeps requests with 2xx to the most frequent origin; a line says what is left out", async () => {
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
      `${file}: left out: 1 to other origins than http://a, 1 redirect, 1 answered from the cache (304), 1 blocked, 1 failed (404), 1 WebSocket`,
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
      post({ mimeType: "multipart/form-data", params: [{ name: "f", value: "hi" }] }),
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
        [
          "multipart/form-data; boundary=part",
          '--part\r\nContent-Disposition: form-data; name="f"\r\n\r\nhi\r\n--part--\r\n',
          undefined,
        ],
        ["application/octet-stream", "AAEC/w==", true],
      ],
    );
  });

  const page = (url: string) => ({
    ...entry("GET", url, 200),
    response: { status: 200, content: { mimeType: "text/html" } },
  });

  const recorded: readonly [what: string, entries: unknown[], expected: string[]][] = [
    [
      "the origin of its pages, if another one has more entries",
      [page("http://a/"), ...[1, 2, 3].map((n) => entry("GET", `http://cdn/${n}.js`, 200))],
      ["GET /"],
    ],
    [
      "nothing that is not of a server",
      [entry("GET", "data:a,b", 200), entry("GET", "data:a,c", 200), entry("GET", "http://a/b", 200)],
      ["GET /b"],
    ],
    [
      "no tunnel, and no stream of events, which has no end",
      [
        entry("CONNECT", "http://a", 200),
        {
          ...entry("GET", "http://a/events", 200),
          response: { status: 200, content: { mimeType: "text/event-stream" } },
        },
        entry("GET", "http://a/b", 200),
      ],
      ["GET /b"],
    ],
    [
      "what is polled with the time in its query, once",
      [1, 2].map((n) => entry("GET", `http://a/b?_=179588422325${n}`, 200)),
      ["GET /b?_=1795884223251"],
    ],
    [
      "headers that are split, and a header that is none",
      [
        entry("GET", "http://a/b", 200, {
          headers: [
            { name: "cookie", value: "a=1" },
            null,
            { name: "Cookie", value: "b=2" },
            { name: "accept-encoding", value: "br" },
          ],
        }),
      ],
      ["GET /b cookie:a=1; b=2 accept-encoding:br"],
    ],
    [
      "cookies that have a list of their own only",
      [entry("GET", "http://a/b", 200, { cookies: [{ name: "a", value: "1" }] })],
      ["GET /b cookie:a=1"],
    ],
  ];
  for (const [what, entries, expected] of recorded)
    test(what, async () => expect(await requestsIn(har(entries))).toEqual(expected));

  test("it is recognized by its content", async () => {
    expect(await requestsIn(written("a.json", JSON.stringify({ log: { entries: [page("http://a/b")] } })))).toEqual([
      "GET /b",
    ]);
  });

  test("a byte order mark is allowed; a file that is no HAR prints one line", async () => {
    const marked = written("b.har", `\uFEFF${JSON.stringify({ log: { entries: [entry("GET", "http://a/b", 200)] } })}`);
    expect(await requestsIn(marked)).toEqual(["GET /b"]);
    for (const text of ["{", "[]", "null", '{"entries":[]}', '{"log":{"entries":{"0":{}}}}'])
      expect(requestsIn(written("bad.har", text))).rejects.toThrow("is no HAR");
    expect(requestsIn(har([null, {}]))).rejects.toThrow("has no request that can be loaded");
  });
});

test("--header also applies to requests of files, and to requests that others need", async () => {
  const headers = { x: "1" };
  const har = written("a.har", '{"log":{"entries":[{"request":{"method":"GET","url":"http://a/b"}}]}}');
  expect(await requestsIn(har, { headers })).toEqual(["GET /b x:1"]);
  const file = written("a.http", "# @name login\nPOST /login\n\n###\nGET /b\nX: 0\ny: {{login.y}}\n");
  const { requests, live } = await readRequests({ file, headers });
  const asked: string[] = [];
  const filled = await fillIn(live as NonNullable<typeof live>, requests, async (request) => {
    asked.push(short(request));
    return { status: 200, headers: { "content-type": "application/json" }, body: Buffer.from('{"y":2}'), ms: 1 };
  });
  expect([asked, Object.values(filled).map(short)]).toEqual([
    ["POST /login x:1"],
    ["POST /login x:1", "GET /b x:1 y:2"],
  ]);
});

test("a file that PowerShell wrote", async () => {
  const file = written("a.http", "");
  writeFileSync(file, Buffer.from("\uFEFFGET /a\r\n", "utf16le"));
  expect(await requestsIn(file)).toEqual(["GET /a"]);
});

test("--header and --body", () => {
  const bytes = written("a.bin", "");
  writeFileSync(bytes, Buffer.from([0, 255]));
  expect(withOptions(["POST /"], [], `@${bytes}`)["POST /"]).toMatchObject({ body: "AP8=", base64: true });
  const requests = withOptions(["/a", "POST /b"], ["X-Key: 1"], '{"a":1}');
  expect(requestOf("/a", requests)).toEqual({ method: "GET", path: "/a", headers: { "x-key": "1" } });
  expect(requestOf("POST /b", requests)).toEqual({
    method: "POST",
    path: "/b",
    headers: { "content-type": "application/json", "x-key": "1" },
    body: '{"a":1}',
  });
  expect(withOptions(["/"], ["cookie: a=1", "Cookie: b=2"])["/"]?.headers).toEqual({ cookie: "a=1; b=2" });
  expect(() => withOptions(["/"], ["nonsense"])).toThrow("write it as 'name: value'");
  expect(() => withOptions(["/"], ["content-length: 9"])).toThrow("is set by the load generator: leave it out");
  expect(() => withOptions(["/a"], [], "x")).toThrow(
    "--body requires an endpoint with a method, e.g. --endpoints 'POST /a'",
  );
});

test("paths with our own names have our meaning only in our workloads", () => {
  expect(requestOf("POST /users")).toEqual({ method: "POST", path: "/users", headers: {} });
  expect(requestOf("POST /users", {}, "users").status).toBe(201);
  expect(requestOf("POST /tx", {}, "tpcb").body).toContain("aid");
});
