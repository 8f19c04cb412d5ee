/** The hand-written servers, which runs compare with the adapters, give the same answers as the adapters. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { CLIENTS, type Runtime } from "../../shared/drivers/drivers.ts";
import { MIGRATIONS } from "../../shared/stores/migrations.ts";
import { SUMS, tablesAt } from "../../shared/tpcb/tables.ts";
import { describeIf, makeDatabase, needs, SERVERS, scratch, startServer, stopServer } from "../harness.ts";
import { ask, sharedPostgres } from "../postgres.ts";

const file = makeDatabase(join(scratch(), "data.db"), 100_000);

/** @returns a file without content items, but with the tables that hand-written servers need */
function emptyContents(): string {
  const file = join(scratch(), "content.db");
  const db = new Database(file);
  for (const migration of MIGRATIONS.sqlite) db.run(migration);
  db.close();
  return file;
}

/** Sends the requests of bench/load/sequence.js, and those that check a server before it is loaded. */
async function expectContent(url: string): Promise<void> {
  const contents = `${url}/content`;
  const send = (method: string, path: string, body?: unknown) =>
    fetch(path, {
      method,
      ...(body !== undefined && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
  const data = { sequence: 1, tags: ["load", "é"], nested: { ratio: 0.5, none: null } };
  const draft = { title: "Draft", body: "fox", author: "a", status: "draft", data };
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const kept = { ...draft, id: expect.any(String), created_at: time, updated_at: time };

  const created = await send("POST", contents, draft);
  const content = (await created.json()) as { id: string; created_at: string };
  expect([created.status, content]).toEqual([201, kept]);
  const { id, created_at } = content;
  const path = `${contents}/${id}`;
  expect((await (await send("GET", path)).json()) as object).toEqual(content);

  const final = { ...draft, title: "Final", status: "published" };
  const updated = await send("PUT", path, final);
  const changed = (await updated.json()) as object;
  expect([updated.status, changed]).toEqual([200, { ...kept, ...final, id, created_at }]);
  expect((await (await send("GET", path)).json()) as object).toEqual(changed);

  const second = (await (await send("POST", contents, draft)).json()) as { id: string };
  const page = async (query: string) => (await (await send("GET", `${contents}?${query}`)).json()) as object;
  const ids = [id, second.id].sort();
  expect(await page("limit=1")).toMatchObject({ items: [{ id: ids[0] }], next: ids[0] });
  expect(await page(`limit=1&after=${ids[0]}`)).toMatchObject({ items: [{ id: ids[1] }], next: null });

  expect((await send("DELETE", path)).status).toBe(204);
  for (const method of ["GET", "DELETE"]) expect([method, (await send(method, path)).status]).toEqual([method, 404]);
  expect((await send("PUT", path, final)).status).toBe(404);
}

/** @param use sends requests while the server is up */
async function withTwin(server: string, env: Record<string, string>, use: (url: string) => Promise<void>) {
  const [runtime = "", framework = ""] = server.split("-");
  const program = `tests/handwritten/${framework === "raw" ? server : framework}.ts`;
  const twin = await startServer({ DB_FILE: file, ...env }, [runtime, program]);
  try {
    await use(twin.url);
  } finally {
    await stopServer(twin);
  }
}

for (const server of SERVERS) {
  test(server, () =>
    withTwin(server, { CONTENT_FILE: emptyContents() }, async (url) => {
      await expectContent(url);
      expect(await (await fetch(`${url}/plain`)).text()).toBe('{"message":"Hello, world!"}');
      const rows = (await (await fetch(`${url}/sqlite/random-5fields/5`)).json()) as object[];
      expect(rows.map((row) => Object.keys(row).length)).toEqual([6, 6, 6, 6, 6]);
    }),
  );
}

describeIf(...needs("postgres"), "/tx", () => {
  const shared = sharedPostgres();
  // Clients do not depend on the framework, so only the raw servers run with each of them.
  const cells = SERVERS.flatMap((server) => {
    const clients = CLIENTS[server.split("-")[0] as Runtime];
    return (server.endsWith("-raw") ? clients : clients.slice(0, 1)).map((client) => [server, client]);
  });

  describe.each(cells as [string, string][])("%s@%s", (server, client) => {
    test("a transaction adds to the balances", async () => {
      const DATABASE_URL = await shared().newUser(`${server}-${client}`);
      await ask(DATABASE_URL, tablesAt(1));
      await withTwin(server, { DATABASE_URL, POSTGRES_CLIENT: client }, async (url) => {
        const post = async (delta: number) => {
          const body = JSON.stringify({ aid: 1, tid: 2, bid: 1, delta });
          const headers = { "content-type": "application/json" };
          return (await fetch(`${url}/tx`, { method: "POST", headers, body })).json();
        };
        expect([await post(100), await post(-130)]).toEqual([{ abalance: 100 }, { abalance: -30 }]);
      });
      const [sums] = await ask(DATABASE_URL, SUMS);
      expect(sums).toEqual({ accounts: "-30", tellers: "-30", branches: "-30", history: "-30" });
    });
  });
});
