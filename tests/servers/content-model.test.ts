/**
 * Random sequences of operations on the content API: every store × driver or client answers like a model on a Map.
 * Long form: `LONG=1 ./test.sh tests/servers/content-model.test.ts`
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Postgres, startPostgres } from "../../bench/run/stores/postgres.ts";
import { CLIENTS, DRIVERS, type Runtime } from "../../shared/drivers/drivers.ts";
import { describeIf, makeDatabase, needs, type Server, scratch, startServer, stopServer } from "../harness.ts";

const SEQUENCES = process.env.LONG === "1" ? 2_000 : 100;
const LENGTH = 30;
const RUN_ON = { bun: "bun-raw", node: "node-fastify" } as const;
const folder = scratch();
const DB_FILE = makeDatabase(`${folder}/data.db`);

/** Few ids, so that several operations use the same id. */
const IDS = ["0", "1", "A", "Z"].map((character) => `0${character.repeat(25)}`);
const NO_ID = "x";

/** A change that makes a draft invalid, and the error. */
const SPOILT: readonly [change: object, error: string][] = [
  [{ title: "" }, "title must NOT have fewer than 1 characters"],
  [{ title: undefined }, "the body must have required property 'title'"],
  [{ author: null }, "author must be string"],
  [{ status: "gone" }, "status must be equal to one of the allowed values"],
  [{ more: 0 }, "the body must NOT have additional properties more"],
];

interface Written {
  readonly draft: object;
  /** Expected if the draft is not valid. */
  readonly error?: string;
}

type Operation =
  | ({ do: "create"; id?: string } & Written)
  | ({ do: "update"; id: string } & Written)
  | { do: "read" | "remove"; id: string }
  | { do: "list"; limit?: string; after?: string };

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 5 });
const draft = fc.record(
  {
    title: text,
    body: fc.constantFrom("b", "\n\\'\"$1?%s"),
    author: text,
    status: fc.constantFrom("draft", "published", "archived"),
    data: fc.jsonValue(),
  },
  { requiredKeys: ["title", "body", "author"] },
);
const written: fc.Arbitrary<Written> = fc.oneof(
  { weight: 4, arbitrary: draft.map((draft) => ({ draft })) },
  fc
    .tuple(draft, fc.constantFrom(...SPOILT))
    .map(([draft, [change, error]]) => ({ draft: { ...draft, ...change }, error })),
);
const id = fc.constantFrom(...IDS, ...IDS, NO_ID);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc
    .tuple(fc.option(fc.constantFrom(...IDS), { nil: undefined, freq: 8 }), written)
    .map(([id, written]) => ({ do: "create" as const, ...(id && { id }), ...written })),
  fc.tuple(id, written).map(([id, written]) => ({ do: "update" as const, id, ...written })),
  fc.record({ do: fc.constantFrom("read" as const, "remove" as const), id }),
  fc.record(
    { do: fc.constant("list" as const), limit: fc.constantFrom("1", "2", "5", "100", "0", "1x"), after: id },
    { requiredKeys: ["do"] },
  ),
);

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const request = (operation: Operation): [method: string, path: string, body?: object] => {
  switch (operation.do) {
    case "create":
      return ["POST", "/content", { ...(operation.id && { id: operation.id }), ...operation.draft }];
    case "update":
      return ["PUT", `/content/${operation.id}`, operation.draft];
    case "read":
      return ["GET", `/content/${operation.id}`];
    case "remove":
      return ["DELETE", `/content/${operation.id}`];
    case "list":
      return ["GET", `/content?${new URLSearchParams(operation as never)}`];
  }
};

const error = (status: number, error: string): Answer => ({ status, body: { error } });

class Model {
  readonly #contents = new Map<string, object>();

  /** @param made the id that the server made, if the request has none */
  answer(operation: Operation, made: string): Answer {
    if (operation.do === "list") return this.#list(operation);
    const { id = made } = operation;
    if (id === NO_ID) return error(400, 'id must be a ULID, not "x"');
    if ("error" in operation) return error(422, operation.error as string);
    if (operation.do === "create") {
      return this.#contents.has(id) ? error(409, `there is a content ${id} already`) : this.#write(201, id, operation);
    }
    if (!this.#contents.has(id)) return error(404, "not found");
    if (operation.do === "update") return this.#write(200, id, operation);
    if (operation.do === "read") return { status: 200, body: this.#contents.get(id) };
    this.#contents.delete(id);
    return { status: 204, body: undefined };
  }

  #write(status: number, id: string, { draft }: Written): Answer {
    const content = JSON.parse(JSON.stringify({ id, status: "draft", data: null, ...draft }));
    this.#contents.set(id, content);
    return { status, body: content };
  }

  #list({ limit = "20", after = "" }: { limit?: string; after?: string }): Answer {
    if (!/^[125]/.test(limit) || limit === "1x") {
      return error(400, `limit must be an integer from 1 to 100, not "${limit}"`);
    }
    if (after === NO_ID) return error(400, 'after must be a ULID, not "x"');
    const ids = [...this.#contents.keys()].filter((id) => id > after).sort();
    const items = ids.slice(0, Number(limit));
    const next = ids.length > items.length ? items.at(-1) : null;
    return { status: 200, body: { items: items.map((id) => this.#contents.get(id)), next } };
  }
}

const timeless = (text: string) =>
  text && JSON.parse(text, (key, value) => (/^(created|updated)_at$/.test(key) ? undefined : value));

function suite(runtime: Runtime, settings: () => Record<string, string>): void {
  let server: Server;
  beforeAll(async () => {
    server = await startServer({ SERVER: RUN_ON[runtime], DB_FILE, ...settings() });
  });
  afterAll(() => stopServer(server));

  const ask = async (operation: Operation): Promise<Answer> => {
    const [method, path, body] = request(operation);
    const json = body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await fetch(server.url + path, { method, ...json });
    return { status: response.status, body: timeless(await response.text()) || undefined };
  };
  const empty = async () => {
    const { items } = (await ask({ do: "list", limit: "100" })).body as { items: { id: string }[] };
    for (const { id } of items) await ask({ do: "remove", id });
  };

  test(`${SEQUENCES} sequences of operations`, async () => {
    const sequences = fc.array(operation, { maxLength: LENGTH, size: "max" });
    const property = fc.asyncProperty(sequences, async (operations) => {
      await empty();
      const model = new Model();
      for (const operation of operations) {
        const answer = await ask(operation);
        expect(answer).toEqual(model.answer(operation, (answer.body as { id: string } | undefined)?.id ?? ""));
      }
    });
    await fc.assert(property, { numRuns: SEQUENCES, seed: 1 });
  });
}

for (const runtime of Object.keys(RUN_ON) as Runtime[]) {
  describe(`${RUN_ON[runtime]} in memory`, () => suite(runtime, () => ({ STORE: "memory" })));
  for (const driver of DRIVERS[runtime]) {
    describe(`${RUN_ON[runtime]}@${driver}`, () =>
      suite(runtime, () => ({
        STORE: "sqlite",
        SQLITE_DRIVER: driver,
        CONTENT_FILE: `${folder}/${runtime}-${driver}.db`,
      })));
  }
}

describeIf(...needs("postgres"), "Postgres", () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());
  for (const runtime of Object.keys(RUN_ON) as Runtime[]) {
    for (const client of CLIENTS[runtime]) {
      describe(`${RUN_ON[runtime]}@${client}`, () =>
        suite(runtime, () => ({ STORE: "postgres", POSTGRES_CLIENT: client, DATABASE_URL: postgres.url })));
    }
  }
});
