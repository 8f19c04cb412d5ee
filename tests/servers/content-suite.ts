/** The answers of the content API, which are the same for every server × store × driver or client × workers. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openapi } from "../../shared/content/openapi.ts";
import type { Content, User } from "../../shared/content/schema.ts";
import { LIMITS } from "../../shared/limits.ts";
import { openapiOfPostgres } from "../../shared/tpcb/openapi.ts";
import { type Server, startServer, stopServer } from "../harness.ts";
import { type Exchange, expectHeaders, mediaType } from "../http.ts";
import type { Strictness } from "../strictness.ts";

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
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/;
const TIME_OF_THE_TEN = /^.{19}\.\d{3}Z$/;
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
const limitMust = (limit: string) => `limit must be an integer from 1 to 100, not ${JSON.stringify(limit)}`;

type Mistake = readonly [status: number, error: string, ...Asked[]];

const MISTAKES: readonly Mistake[] = [
  [
    400,
    "the body is not valid JSON",
    ...["", "{", draft().slice(0, -1), "{'title':1}", withData("NaN"), `${draft()}x`].map((body) => post(body)),
    put(NONE, ""),
    post("{", undefined, "/users"),
  ],
  [400, 'id must be a ULID, not "x"', get("/content/x"), put("x", draft()), remove("x")],
  [400, `id must be a ULID, not "8${NONE.slice(1)}"`, get(`/content/8${NONE.slice(1)}`)],
  [400, `id must be a ULID, not "${NONE}0"`, remove(`${NONE}0`)],
  ...["0", "-1", "101", "1.5", "x"].map((limit): Mistake => [400, limitMust(limit), get(`/content?limit=${limit}`)]),
  [400, 'after must be a ULID, not "x"', get("/content?after=x")],
  [404, "not found", get(`/content/${NONE}`), put(NONE, draft()), remove(NONE), get("/Content"), get("/users/1")],
  [413, tooLarge, post(ofBytes(LIMITS.bodyBytes + 1)), put(NONE, ofBytes(2 * LIMITS.bodyBytes))],
  [415, notJson, post(draft(), typed("text/plain")), post(draft(), typed("application/x-www-form-urlencoded"))],
  [422, "the body must be object", ...["null", "[]", "1", '"{}"'].map((body) => post(body))],
  [422, "the body must have required property 'title'", post("{}"), put(NONE, '{"body":"b","author":"a"}')],
  [422, "the body must have required property 'author'", post(draft({ author: undefined }))],
  [422, "the body must have required property 'email'", user({ name: "Ann" })],
  [422, "the body must NOT have additional properties more", post(draft({ more: 1 }))],
  [422, "the body must NOT have additional properties id", put(NONE, draft({ id: NONE }))],
  [422, "the body must NOT have additional properties id", user({ name: "Ann", email: "a@b", id: 7 })],
  [422, "id must be string", post(draft({ id: 1 }))],
  [422, 'id must match pattern "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"', post(draft({ id: NONE.toLowerCase() }))],
  [422, "title must be string", post(draft({ title: 1 })), put(NONE, draft({ title: null }))],
  [422, "title must NOT have fewer than 1 characters", post(draft({ title: "" }))],
  [422, "title must NOT have more than 200 characters", post(draft({ title: "😀".repeat(201) }))],
  [422, "body must NOT have more than 50000 characters", put(NONE, draft({ body: "x".repeat(50_001) }))],
  [422, "email must NOT have more than 200 characters", user({ name: "Ann", email: "x".repeat(201) })],
  [422, "status must be equal to one of the allowed values", post(draft({ status: "gone" }))],
];

/** Bodies that libraries of other languages read in different ways. */
const ODD_MISTAKES: readonly Mistake[] = [
  [
    400,
    "the body is not valid JSON",
    ...[" \n", "NaN", withData("01"), '{"title":"a",}', '{"title":"\n"}', "\u00a0{}", "\ufeff\ufeff{}", "/**/{}"].map(
      (body) => post(body),
    ),
    ...["undefined", Buffer.from(draft(), "utf16le"), Buffer.from([0, 1, 254, 255])].map((body) => post(body)),
    chunked(post("")),
    chunked(post("{")),
    put("no-ulid", "{"),
  ],
  [400, 'id must be a ULID, not "x"', get("/content/x?id=1"), put("x", "{}")],
  [400, `id must be a ULID, not "${NONE.toLowerCase()}"`, get(`/content/${NONE.toLowerCase()}`)],
  [400, 'id must be a ULID, not "é/\\u0000\\""', get("/content/%c3%a9%2f%00%22"), remove("%c3%a9%2f%00%22")],
  [400, 'id must be a ULID, not "a+b c"', get("/content/a+b%20c")],
  ...["", "01", "1e1", "%zz", "1?"].map(
    (limit): Mistake => [
      400,
      limitMust(limit),
      get(`/content?limit=${limit}`),
      get(`/content?after=x&limit=${limit}&limit=5`),
    ],
  ),
  [400, limitMust(" 1"), get("/content?limit=+1"), get("/content?%6cimit=%201")],
  [400, 'after must be a ULID, not "x"', get(`/content?after=x&after=${NONE}`)],
  [400, 'after must be a ULID, not "\\u0000é"', get("/content?after=%00%C3%A9&limit=3")],
  [
    404,
    "not found",
    ...[{ ...put(NONE, "{"), method: "DELETE" }, get("/content/"), get("/content/?limit=1"), get(`/content/${NONE}/`)],
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
    chunked(post(ofBytes(LIMITS.bodyBytes + 1))),
    chunked(put(NONE, ofBytes(2 * LIMITS.bodyBytes))),
    chunked(post(draft({ data: "€".repeat(LIMITS.bodyBytes / 2) }))),
    post("x".repeat(LIMITS.bodyBytes + 1), undefined, "/users"),
  ],
  [
    415,
    notJson,
    ...["application/jsonp", "application/ld+json", ";"].map((type) => post(draft(), typed(type))),
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
  [422, "the body must be object", post("false"), post(nested(5_000))],
  [422, "the body must NOT have additional properties __proto__", post(`{"__proto__":{},${draft().slice(1)}`)],
  [422, "the body must NOT have additional properties constructor", post(draft({ constructor: {} }))],
  [422, "the body must NOT have additional properties id", put(NONE, draft({ id: "" }))],
  [422, "id must be string", post(draft({ id: null }))],
  [422, 'id must match pattern "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"', post(draft({ id: `${NONE}\n` }))],
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

/** Different JSON texts. */
const DATA = [
  ...["null", "true", "0", '""', "[]", "{}", '{"":{"":[null]}}', nested(64), `[0,{"a":${nested(62)}}]`],
  ...["[0.1,1E2,-5,9007199254740991]", '"\\u2028\\ud83d\\ude00\\/"', '{"$1":"$2 ?","\'":"\\"; --","%s":"\\\\n"}'],
  ...['"ünï→😀\u2028\u007f"', `[${"0,".repeat(9_999)}0]`],
];
/** Texts that other languages' libraries read differently; the ten servers answer what JSON.stringify makes of them. */
const ODD_DATA = [
  ...['{"__proto__":{"a":[1]},"constructor":{"prototype":1},"toString":null}', '{"b":1,"a":2,"a":3,"2":4,"1":5}'],
  ...["[-0,1e400,-1e400,1e-400,12345678901234567890]", '"\\u0000\\ud800\\udfff"'],
];

/** @param server all its workers share one store of contents and users, and nothing else writes to it */
export function contentSuite(name: string, workers: number, server: () => Server, strictness: Strictness): void {
  const { exact } = strictness;
  const ask = async ({ method, path, headers = {}, body, chunked }: Asked) => {
    const bytes = body === undefined ? undefined : Buffer.from(body as string); // fetch adds a content-type to a string
    const response = await fetch(server().url + path, {
      method,
      headers,
      ...(bytes && { body: (chunked ? parts(bytes) : bytes) as BodyInit }),
    });
    const text = await response.text();
    return { status: response.status, text, body: strictness.body(text), type: mediaType(response) };
  };
  const must = async <T = Content>(status: number, asked: Asked): Promise<T> => {
    const answer = await ask(asked);
    expect([answer.status, answer.type, answer.text]).toEqual([status, "application/json", expect.any(String)]);
    return JSON.parse(answer.text);
  };
  const isRefused = async (status: number, error: string, asked: Asked) => {
    const answer = await ask(asked);
    const type = "application/json";
    expect({ ...answer, asked }).toMatchObject({ asked, status, type, body: strictness.error(error) as string });
  };
  const page = (query: string) => must<{ items: Content[]; next: string | null }>(200, get(`/content?${query}`));

  test("a content is created, read, replaced and removed", async () => {
    const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    const created = await ask(post(draft({ id })));
    const { created_at }: Content = JSON.parse(created.text);
    const isTime = (time: string) => expect(time).toMatch(exact ? TIME_OF_THE_TEN : TIME);
    isTime(created_at);
    const times = { created_at, updated_at: created_at };
    expect(created.status).toBe(201);
    expect(created.body).toEqual(strictness.json({ id, ...DRAFT, status: "draft", data: null, ...times }));
    const isKept = async (path: string, { body }: typeof created) =>
      expect(await ask(get(path))).toMatchObject({ status: 200, type: "application/json", body: body as object });
    await isKept(`/content/${id}`, created);
    await isKept(`/content/%30${id.slice(1)}?id=x`, created);
    await isRefused(409, `there is a content ${id} already`, post(draft({ id, title: "Another" })));

    const news = { title: "😀".repeat(200), body: "é\n".repeat(25_000), author: "' ? $1 %s \\", status: "published" };
    const replaced = await ask(put(id, JSON.stringify({ data: { a: [1] }, ...news })));
    const { updated_at } = JSON.parse(replaced.text);
    expect(replaced.status).toBe(200);
    expect(replaced.body).toEqual(strictness.json({ id, ...news, data: { a: [1] }, created_at, updated_at }));
    isTime(updated_at);
    expect(Date.parse(updated_at)).toBeGreaterThanOrEqual(Date.parse(created_at));
    await isKept(`/content/${id}`, replaced);
    const plain = await must(200, put(id, draft())); // a field that is not sent is reset
    expect(plain).toEqual({ id, ...DRAFT, status: "draft", data: null, created_at, updated_at: expect.any(String) });
    expect(Date.parse(plain.updated_at)).toBeGreaterThanOrEqual(Date.parse(updated_at));

    expect(await ask(remove(id))).toMatchObject({ status: 204, text: "", ...(exact && { type: undefined }) });
    for (const asked of [get(`/content/${id}`), remove(id), put(id, draft())]) await isRefused(404, "not found", asked);
    const again = await must(201, post(draft({ id })));
    expect(Date.parse(again.created_at)).toBeGreaterThanOrEqual(Date.parse(updated_at));
    expect((await ask({ ...remove(id), headers: typed("application/json") })).status).toBe(204);
  });

  test("the server makes an id if the request has none", async () => {
    const odd = [post(draft(), typed('Application/JSON ; charset="UTF-8"')), post(`\ufeff ${draft()}\n`)];
    const usual = [post(draft(), typed("application/json;charset=utf-8")), chunked(post(draft()))];
    const made = await Promise.all([...usual, ...(exact ? odd : [])].map((asked) => must(201, asked)));
    for (const content of made) {
      expect(content.id).toMatch(ULID);
      expect(await must(200, get(`/content/${content.id}`))).toEqual(content);
    }
    expect(new Set(made.map(({ id }) => id)).size).toBe(made.length);
  });

  test("contents are listed in pages", async () => {
    const id = (i: number) => `7ZZZZZZZZZZZZZZZZZZZZZZZ${i}`; // sorts after all others
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
    if (exact) expect((await page("limit=1&after=&limit=9&__proto__=1&limit[]=2&&=")).items).toHaveLength(1);
    await ask(remove(id(12)));
    expect(await page(`limit=2&after=${id(10)}`)).toEqual({ items: [all[1], all[3]] as Content[], next: id(13) });
  });

  test("any JSON is stored", async () => {
    const given = exact ? [...DATA, ...ODD_DATA] : DATA;
    const kept = await Promise.all(given.map((data) => ask(post(withData(data)))));
    for (const [i, data] of given.entries()) {
      const { status, text, body } = kept[i] as (typeof kept)[0];
      const { id, created_at, updated_at }: Content = JSON.parse(text);
      const times = { created_at, updated_at };
      expect([data, status]).toEqual([data, 201]);
      expect(body).toEqual(strictness.json({ id, ...DRAFT, status: "draft", data: JSON.parse(data), ...times }));
      expect((await ask(get(`/content/${id}`))).body).toEqual(body);
    }
  });

  test("the largest body is accepted", async () => {
    const largest = post(ofBytes(LIMITS.bodyBytes));
    const broken = post(Buffer.from(draft({ data: "\u00ff".repeat(LIMITS.bodyBytes / 2) }), "latin1")); // grows when decoded
    for (const asked of [largest, chunked(largest), ...(exact ? [broken, chunked(broken)] : [])]) {
      const { id, data } = await must(201, asked);
      expect(data).toMatch(/^(x{99999,}|\ufffd{51200})$/);
      await ask(remove(id));
    }
  });

  test("a wrong request gets an error that names the mistake", async () => {
    const mistakes = exact ? [...MISTAKES, ...ODD_MISTAKES] : MISTAKES;
    await Promise.all(
      mistakes.flatMap(([status, error, ...these]) => these.map((asked) => isRefused(status, error, asked))),
    );
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

  if (exact) {
    test("/openapi.json and /docs describe it", async () => {
      const { store } = JSON.parse((await ask(get("/"))).text);
      const described = store.name === "postgres" ? openapiOfPostgres : openapi;
      expect((await ask(get("/openapi.json"))).text).toBe(JSON.stringify(described));
      const { status, text, type } = await ask(get("/docs"));
      expect([status, type]).toEqual([200, "text/html"]);
      for (const [path, operations] of Object.entries<object>(described.paths)) {
        for (const method of Object.keys(operations)) {
          if (method !== "parameters") expect(text).toContain(`<code>${method.toUpperCase()} ${path}</code>`);
        }
      }
    });
  }

  test("all servers send the same headers", async () => {
    const id = "0000000000000000000000000A";
    const cases: Exchange[] = [
      [201, "POST", "/content", draft({ id })],
      [409, "POST", "/content", draft({ id })],
      [422, "POST", "/content", "{}"],
      [400, "PUT", `/content/${id}`, "{"],
      [200, "PUT", `/content/${id}`, draft()],
      [200, "GET", `/content/${id}`],
      [200, "GET", "/content?limit=1"],
      [204, "DELETE", `/content/${id}`],
      [404, "DELETE", `/content/${id}`],
      [200, "GET", "/users"],
    ];
    if (exact) cases.push([404, "PATCH", "/content"], [200, "GET", "/openapi.json"], [200, "GET", "/docs"]);
    for (const asked of cases) await expectHeaders(strictness, { name, port: server().port }, asked);
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

/** A server that stores contents with one driver or client. */
export interface ContentCell {
  readonly server: string;
  readonly workers: number;
  /** The driver or client. */
  readonly by?: string;
}

/** Runs the suite on servers that start together, because that takes half the time. */
export function contentSuites<Cell extends ContentCell>(
  cells: readonly Cell[],
  settings: (cell: Cell) => Promise<Record<string, string>>,
  strictness: Strictness,
): void {
  let servers: Server[] = [];
  beforeAll(async () => {
    const start = async (cell: Cell) =>
      startServer({ SERVER: cell.server, WORKERS: String(cell.workers), ...(await settings(cell)) });
    servers = await Promise.all(cells.map(start));
  });
  afterAll(() => Promise.all(servers.map(stopServer)));

  for (const [i, { server, workers, by }] of cells.entries()) {
    describe(by ? `${server}@${by}*${workers}` : server, () => {
      contentSuite(server, workers, () => servers[i] as Server, strictness);
      test("nothing was logged", () => expect(servers[i]?.output()).toBe(""));
    });
  }
  test("SIGTERM ends them", async () => {
    for (const { child } of servers) child.kill("SIGTERM");
    const ends = await Promise.all(servers.map(({ ended }) => ended));
    expect(ends).toEqual(cells.map(() => ({ code: 0, signal: null })));
  });
}
