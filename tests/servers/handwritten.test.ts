/** The hand-written servers that `tax` compares with the adapters give the same answers. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { findPrograms } from "../../bench/run/stores/postgres.ts";
import { CLIENTS, type Runtime } from "../../shared/drivers/drivers.ts";
import { SUMS, tablesAt } from "../../shared/tpcb/tables.ts";
import { describeIf, makeDatabase, SERVERS, scratch, startServer, stopServer } from "../harness.ts";
import { ask, sharedPostgres } from "../postgres.ts";
import { emptyContents, expectContent } from "./handwritten-suite.ts";

const file = makeDatabase(join(scratch(), "data.db"), 100_000);

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

describeIf(findPrograms() !== null, "PostgreSQL is not installed", "/tx", () => {
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
