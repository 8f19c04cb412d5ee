/** The content API answers alike on every server × store × driver or client × workers. */
import { expect, test } from "bun:test";
import { STACKS } from "../../bench/ask/targets.ts";
import { openapi } from "../../shared/content/openapi.ts";
import type { Content, User } from "../../shared/content/schema.ts";
import { LIMITS } from "../../shared/limits.ts";
import { openapiOfPostgres } from "../../shared/tpcb/openapi.ts";
import type { Server } from "../harness.ts";
import { headersOf, mediaType, rawHeaders } from "../http.ts";

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: string | Buffer;
  /** Send the body in chunks, without content-length. */
  readonly chunked?: true;
  readonly headers?: Record<string, string>;
}

const NONE = "01ARZ3NDEKTSV4RRFFQ69G5FA0";
const DRAFT = { title: "A title", body: "Some text", author: "Ann" };
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

const typed = (type: string): Record<string, string> => ({ "content-type": type });
const post = (body: Asked["body"] & {}, headers = typed("application/json"), path = "/content"): Asked => ({
  method: "POST",
  path,
  body,
  headers,
});
const put = (id: string, body: Asked["body"] & {}): Asked => ({ ...post(body), method: "PUT", path: `/content/${id}` });
const get = (path: string): Asked => ({ method: "GET", path });
const remove = (id: string): Asked => ({ method: "DELETE", path: `/content/${id}` });
const chunked = (asked: Asked): Asked => ({ ...asked, chunked: true });
const user = (body: object) => post(JSON.stringify(body), undefined, "/users");

const draft = (changes: object = {}) => JSON.stringify({ ...DRAFT, ...changes });
/** For JSON that JSON.stringify does not write. */
const withData = (data: string) => `${draft().slice(0, -1)},"data":${data}}`;
const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const ofBytes = (bytes: number) => draft({ data: "x".repeat(bytes - draft({ data: "" }).length) });

const notText = String.raw`must match pattern "^[^\u0000\ud800-\udfff]*$"`;
const notJson = "the body must be of content-type application/json in UTF-8, not compressed";
const tooLarge = `the body is larger than ${LIMITS.bodyBytes} bytes`;

const MISTAKES: readonly (readonly [status: number, error: string, ...Asked[]])[] = [
  [
    400,
    "the body is not valid JSON",
    ...["", " \n", "{", draft().slice(0, -1), "NaN", withData("NaN"), withData("01"), `${draft()}x`].map((body) =>
      post(body),
    ),
    ...["{'title':1}", '{"title":"a",}', '{"title":"\n"}', "\u00a0{}", "\ufeff\ufeff{}", "/**/{}", "undefined"].map(
      (body) => post(body),
    ),
    ...[Buffer.from(draft(), "utf16le"), Buffer.from([0, 1, 254, 255])].map((body) => post(body)),
    chunked(post("")),
    chunked(post("{")),
    put(NONE, ""),
    put("no-ulid", "{"),
    post("{", undefined, "/users"),
  ],
  [400, 'id must be a ULID, not "x"', get("/content/x"), get("/content/x?id=1"), put("x", "{}"), remove("x")],
  [400, `id must be a ULID, not "${NONE.toLowerCase()}"`, get(`/content/${NONE.toLowerCase()}`)],
  [400, `id must be a ULID, not "8${NONE.slice(1)}"`, get(`/content/8${NONE.slice(1)}`)],
  [400, `id must be a ULID, not "${NONE}0"`, remove(`${NONE}0`)],
  [400, 'id must be a ULID, not "é/\\u0000\\""', get("/content/%c3%a9%2f%00%22"), remove("%c3%a9%2f%00%22")],
  [400, 'id must be a ULID, not "a+b c"', get("/content/a+b%20c")],
  ...["", "0", "-1", "101", "1.5", "01", "1e1", "x", "%zz", "1?"].map(
    (limit) =>
      [
        400,
        `limit must be an integer from 1 to 100, not ${JSON.stringify(limit)}`,
        get(`/content?limit=${limit}`),
        get(`/content?after=x&limit=${limit}&limit=5`),
      ] as const,
  ),
  [400, 'limit must be an integer from 1 to 100, not " 1"', get("/content?limit=+1"), get("/content?%6cimit=%201")],
  [400, 'after must be a ULID, not "x"', get("/content?after=x"), get(`/content?after=x&after=${NONE}`)],
  [400, 'after must be a ULID, not "\\u0000é"', get("/content?after=%00%C3%A9&limit=3")],
  [
    404,
    "not found",
    ...[get(`/content/${NONE}`), put(NONE, draft()), remove(NONE), { ...put(NONE, "{"), method: "DELETE" }],
    ...[get("/content/"), get("/content/?limit=1"), get("/Content"), get(`/content/${NONE}/`), get("/users/1")],
    ...["PATCH", "OPTIONS", "PROPFIND"].flatMap((method) =>
      ["/content", `/content/${NONE}`, "/users", "/openapi.json", "/docs"].map((path) => ({ method, path })),
    ),
    ...["/content", "/users", "/openapi.json"].map((path) => ({ ...put(NONE, draft()), path })),
    ...[
      post(draft(), undefined, `/content/${NONE}`),
      post("{", undefined, "/docs"),
      post("{", {}, "/content/"),
      { ...put("", "{"), headers: {} },
    ],
    ...["/content", "/users", "/docs"].map((path) => ({ method: "DELETE", path })),
    { ...remove(NONE), headers: typed("application/json") },
    { ...remove(NONE), body: "x".repeat(2 * LIMITS.bodyBytes), headers: typed("text/plain") },
  ],
  [
    413,
    tooLarge,
    ...[post(ofBytes(LIMITS.bodyBytes + 1)), put(NONE, ofBytes(2 * LIMITS.bodyBytes))].flatMap((asked) => [
      asked,
      chunked(asked),
    ]),
    chunked(post(draft({ data: "€".repeat(LIMITS.bodyBytes / 2) }))),
    post("x".repeat(LIMITS.bodyBytes + 1), undefined, "/users"),
  ],
  [
    415,
    notJson,
    ...["text/plain", "application/jsonp", "application/ld+json", "application/x-www-form-urlencoded", ";"].map(
      (type) => post(draft(), typed(type)),
    ),
    ...["latin1", "utf-16le", "utf-7", ""].map((charset) =>
      post(draft(), typed(`application/json; charset=${charset}`)),
    ),
    post(draft(), {}),
    post("{", { ...typed("application/json"), "content-encoding": "gzip" }),
    post(Buffer.from(Bun.gzipSync(draft())), { ...typed("application/json"), "content-encoding": "gzip" }),
    post("x".repeat(2 * LIMITS.bodyBytes), typed("text/plain")),
    { ...put("x", ""), headers: {} },
    { ...user({}), headers: typed("text/plain") },
  ],
  [422, "the body must be object", ...["null", "[]", "1", '"{}"', "false", nested(5_000)].map((body) => post(body))],
  [422, "the body must have required property 'title'", post("{}"), put(NONE, '{"body":"b","author":"a"}')],
  [422, "the body must have required property 'author'", post(draft({ author: undefined }))],
  [422, "the body must have required property 'email'", user({ name: "Ann" })],
  [422, "the body must NOT have additional properties more", post(draft({ more: 1 }))],
  [422, "the body must NOT have additional properties __proto__", post(`{"__proto__":{},${draft().slice(1)}`)],
  [422, "the body must NOT have additional properties constructor", post(draft({ constructor: {} }))],
  [
    422,
    "the body must NOT have additional properties id",
    put(NONE, draft({ id: NONE })),
    put(NONE, draft({ id: "" })),
  ],
  [422, "the body must NOT have additional properties id", user({ name: "Ann", email: "a@b", id: 7 })],
  [422, "id must be string", post(draft({ id: null })), post(draft({ id: 1 }))],
  [422, 'id must match pattern "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"', post(draft({ id: NONE.toLowerCase() }))],
  [422, 'id must match pattern "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"', post(draft({ id: `${NONE}\n` }))],
  [422, "title must be string", post(draft({ title: 1 })), put(NONE, draft({ title: null }))],
  [422, "title must NOT have fewer than 1 characters", post(draft({ title: "" }))],
  [422, "title must NOT have more than 200 characters", post(draft({ title: "😀".repeat(201) }))],
  [422, "body must NOT have more than 50000 characters", put(NONE, draft({ body: "x".repeat(50_001) }))],
  [422, "email must NOT have more than 200 characters", user({ name: "Ann", email: "x".repeat(201) })],
  [422, "status must be equal to one of the allowed values", post(draft({ status: "gone" }))],
  [422, "status must be equal to one of the allowed values", put(NONE, draft({ status: null }))],
  [422, `title ${notText}`, post(draft({ title: "a\0b" })), put(NONE, draft({ title: "a\ud800" }))],
  [422, `author ${notText}`, post(draft({ author: "\udc00\ud800" }))],
  [422, `name ${notText}`, user({ name: "\0", email: "a@b" })],
  [
    422,
    "data must not be nested more than 64 deep",
    ...[withData(nested(65)), withData(nested(5_000)), withData(`${'{"a":'.repeat(9_000)}1${"}".repeat(9_000)}`)].map(
      (body) => post(body),
    ),
    put(NONE, withData(`[0,{"a":${nested(63)}}]`)),
  ],
];

/** Servers that refuse an invalid escape (`%zz`) in a query before a handler runs. */
const UNDECODABLE: Record<string, { status: number; text: string; reason: string }> = {
  "java-spring-webflux": { status: 400, text: "", reason: "Spring answers before a route or filter runs" },
};

/** JSON texts; the answer is JSON.stringify(JSON.parse(text)). */
const DATA = [
  ...["null", "true", "0", '""', "[]", "{}", '{"":{"":[null]}}', nested(64), `[0,{"a":${nested(62)}}]`],
  ...['{"__proto__":{"a":[1]},"constructor":{"prototype":1},"toString":null}', '{"b":1,"a":2,"a":3,"2":4,"1":5}'],
  ...["[-0,1e400,-1e400,1e-400,12345678901234567890,0.1,1E2]", '"\\u0000\\ud800\\udfff\\ud83d\\ude00\\u2028\\/"'],
  ...['{"$1":"$2 ?","\'":"\\"; --","%s":"\\\\n"}', '"ünï→😀\u2028\u007f"', `[${"0,".repeat(9_999)}0]`],
];

/** @param server whose workers share one store that nobody else writes */
export function contentSuite(name: string, workers: number, server: () => Server): void {
  const ask = async ({ method, path, headers = {}, body, chunked }: Asked) => {
    const bytes = body === undefined ? undefined : Buffer.from(body as string); // fetch adds a content-type to a string
    const response = await fetch(server().url + path, {
      method,
      headers,
      ...(bytes && { body: (chunked ? parts(bytes) : bytes) as BodyInit }),
    });
    const text = await response.text();
    return { status: response.status, text, type: mediaType(response) };
  };
  const must = async <T = Content>(status: number, asked: Asked): Promise<T> => {
    const answer = await ask(asked);
    expect([answer.status, answer.type, answer.text]).toEqual([status, "application/json", expect.any(String)]);
    return JSON.parse(answer.text);
  };
  const page = (query: string) => must<{ items: Content[]; next: string | null }>(200, get(`/content?${query}`));

  test("a content is created, read, replaced and removed", async () => {
    const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    const created = await ask(post(draft({ id })));
    const content: Content = JSON.parse(created.text);
    const { created_at } = content;
    expect(created_at).toMatch(TIME);
    const times = { created_at, updated_at: created_at };
    expect(created.status).toBe(201);
    expect(created.text).toBe(JSON.stringify({ id, ...DRAFT, status: "draft", data: null, ...times }));
    expect(await ask(get(`/content/${id}`))).toEqual({ ...created, status: 200 });
    expect(await ask(get(`/content/%30${id.slice(1)}?id=x`))).toEqual({ ...created, status: 200 });
    expect(await must(409, post(draft({ id, title: "Another" })))).toEqual({
      error: `there is a content ${id} already`,
    } as never);

    const news = { title: "😀".repeat(200), body: "é\n".repeat(25_000), author: "' ? $1 %s \\", status: "published" };
    const replaced = await ask(put(id, JSON.stringify({ data: { a: [1] }, ...news })));
    const { updated_at } = JSON.parse(replaced.text);
    expect(replaced.status).toBe(200);
    expect(replaced.text).toBe(JSON.stringify({ id, ...news, data: { a: [1] }, created_at, updated_at }));
    expect(updated_at).toMatch(TIME);
    expect(updated_at >= created_at).toBe(true);
    expect(await ask(get(`/content/${id}`))).toEqual(replaced);
    const plain = await must(200, put(id, draft())); // fields that are left out get their defaults
    expect(plain).toEqual({ id, ...DRAFT, status: "draft", data: null, created_at, updated_at: expect.any(String) });
    expect(plain.updated_at >= updated_at).toBe(true);

    expect(await ask(remove(id))).toEqual({ status: 204, text: "", type: undefined });
    for (const asked of [get(`/content/${id}`), remove(id), put(id, draft())]) {
      expect(await must(404, asked)).toEqual({ error: "not found" } as never);
    }
    expect((await must(201, post(draft({ id })))).created_at >= updated_at).toBe(true);
    expect((await ask({ ...remove(id), headers: typed("application/json") })).status).toBe(204);
  });

  test("the server makes an id if the request has none", async () => {
    const types = ["application/json;charset=utf-8", 'Application/JSON ; charset="UTF-8"'];
    const made = await Promise.all(
      [...types.map((type) => post(draft(), typed(type))), post(`\ufeff ${draft()}\n`), chunked(post(draft()))].map(
        (asked) => must(201, asked),
      ),
    );
    for (const content of made) {
      expect(content.id).toMatch(ULID);
      expect(await must(200, get(`/content/${content.id}`))).toEqual(content);
    }
    expect(new Set(made.map(({ id }) => id)).size).toBe(made.length);
  });

  test("contents are listed in pages", async () => {
    const id = (i: number) => `7ZZZZZZZZZZZZZZZZZZZZZZZ${i}`; // after all others
    const ids = Array.from({ length: 25 }, (_, i) => id(i + 10));
    const made = await Promise.all(ids.toReversed().map((id) => must(201, post(draft({ id })))));
    const all = made.toReversed();
    const after = id(10).replace(/..$/, "0Z");
    expect(await page(`after=${after}`)).toEqual({ items: all.slice(0, 20), next: id(29) });
    for (const [limit, pages] of [
      [7, 4] as const,
      [5, 5] as const,
      [24, 2] as const,
      [25, 1] as const,
      [100, 1] as const,
    ]) {
      const items: Content[] = [];
      let next: string | null = after;
      let asked = 0;
      for (; next; asked++) {
        const answer = await page(`limit=${limit}&after=${next}`);
        items.push(...answer.items);
        next = answer.next;
      }
      expect(asked).toBe(pages);
      expect(items).toEqual(all);
    }
    expect(await page("after=7ZZZZZZZZZZZZZZZZZZZZZZZZZ")).toEqual({ items: [], next: null });
    expect((await page("limit=1&after=&limit=9&__proto__=1&limit[]=2&&=")).items).toHaveLength(1);
    await ask(remove(id(12)));
    expect(await page(`limit=2&after=${id(10)}`)).toEqual({ items: [all[1], all[3]] as Content[], next: id(13) });
  });

  test("data may be any JSON", async () => {
    const kept = await Promise.all(DATA.map((data) => ask(post(withData(data)))));
    for (const [i, data] of DATA.entries()) {
      const { status, text } = kept[i] as (typeof kept)[0];
      const { id, created_at, updated_at }: Content = JSON.parse(text);
      const times = { created_at, updated_at };
      expect([data, status]).toEqual([data, 201]);
      expect(text).toBe(JSON.stringify({ id, ...DRAFT, status: "draft", data: JSON.parse(data), ...times }));
      expect((await ask(get(`/content/${id}`))).text).toBe(text);
    }
  });

  test("the largest body is accepted", async () => {
    const largest = post(ofBytes(LIMITS.bodyBytes));
    const broken = Buffer.from(draft({ data: "\u00ff".repeat(LIMITS.bodyBytes / 2) }), "latin1"); // grows when decoded
    for (const asked of [largest, chunked(largest), post(broken), chunked(post(broken))]) {
      const { id, data } = await must(201, asked);
      expect(data).toMatch(/^(x{99999,}|\ufffd{51200})$/);
      await ask(remove(id));
    }
  });

  test("mistakes get their status and error", async () => {
    const expected = MISTAKES.flatMap(([status, error, ...these]) =>
      these.map((asked) => {
        const refused = asked.path.includes("%zz") ? UNDECODABLE[name] : undefined;
        if (refused) return { asked, status: refused.status, type: undefined, text: refused.text };
        return { asked, status, type: "application/json", text: JSON.stringify({ error }) };
      }),
    );
    const answers = await Promise.all(expected.map(async ({ asked }) => ({ asked, ...(await ask(asked)) })));
    expect(answers).toEqual(expected);
  });

  test("users are added and listed", async () => {
    expect(await must<User[]>(200, get("/users"))).toEqual([]);
    const said = { name: "Zoë O'Neill", email: "zoe@example.com" };
    const first = await must<User>(201, user(said));
    expect(first).toEqual({ id: expect.any(Number), ...said });
    const more = await Promise.all(Array.from({ length: 100 }, () => must<User>(201, user(said))));
    const ids = [first, ...more].map(({ id }) => id).sort((a, b) => a - b);
    expect(new Set(ids).size).toBe(101);
    expect(await must<User[]>(200, get("/users?limit=1"))).toEqual(ids.slice(0, 100).map((id) => ({ id, ...said })));
  });

  test("/openapi.json and /docs describe the API", async () => {
    const { store } = JSON.parse((await ask(get("/"))).text);
    const described =
      store.name === "postgres" && (STACKS[name]?.workloads.includes("tpcb") ?? true) ? openapiOfPostgres : openapi;
    expect((await ask(get("/openapi.json"))).text).toBe(JSON.stringify(described));
    const { status, text, type } = await ask(get("/docs"));
    expect([status, type]).toEqual([200, "text/html"]);
    for (const [path, operations] of Object.entries<object>(described.paths)) {
      for (const method of Object.keys(operations)) {
        if (method !== "parameters") expect(text).toContain(`<code>${method.toUpperCase()} ${path}</code>`);
      }
    }
  });

  test("all servers send the same headers", async () => {
    const id = "0000000000000000000000000A";
    const cases: [status: number, method: string, path: string, body?: string][] = [
      [201, "POST", "/content", draft({ id })],
      [409, "POST", "/content", draft({ id })],
      [422, "POST", "/content", "{}"],
      [400, "PUT", `/content/${id}`, "{"],
      [200, "PUT", `/content/${id}`, draft()],
      [200, "GET", `/content/${id}`],
      [200, "GET", "/content?limit=1"],
      [204, "DELETE", `/content/${id}`],
      [404, "DELETE", `/content/${id}`],
      [404, "PATCH", "/content"],
      [200, "GET", "/users"],
      [200, "GET", "/openapi.json"],
      [200, "GET", "/docs"],
    ];
    for (const [status, method, path, body] of cases) {
      const headers = await rawHeaders(server().port, path, method, body);
      expect([method, path, ...headers]).toEqual([method, path, status, ...headersOf(name, status)]);
    }
  });

  if (workers > 1) {
    test("200 writes at once lose nothing; of 20 writes of the same id at once, one succeeds", async () => {
      const id = (i: number) => `00000000000000000000000${i}`;
      const given = Array.from({ length: 100 }, (_, i) => draft({ id: id(i + 100) }));
      const made = await Promise.all([...given, ...given.map(() => draft())].map((body) => must(201, post(body))));
      const found: Content[] = [];
      for (let next: string | null = ""; next !== null; ) {
        const answer = await page(`limit=100&after=${next}`);
        found.push(...answer.items);
        next = answer.next;
      }
      const ours = new Set(made.map(({ id }) => id));
      expect(ours.size).toBe(200);
      const sorted = made.sort((a, b) => (a.id < b.id ? -1 : 1));
      expect(found.filter(({ id }) => ours.has(id))).toEqual(sorted);

      const same = (asked: Asked) => Promise.all(Array.from({ length: 20 }, async () => (await ask(asked)).status));
      expect((await same(post(draft({ id: id(200) })))).sort()).toEqual([201, ...Array(19).fill(409)]);
      expect(await same(put(id(200), draft({ title: "Anew" })))).toEqual(Array(20).fill(200));
      expect((await same(remove(id(200)))).sort()).toEqual([204, ...Array(19).fill(404)]);
    });
  }
}

async function* parts(bytes: Buffer) {
  for (let i = 0; i < bytes.length; i += 16_384) yield bytes.subarray(i, i + 16_384);
}
