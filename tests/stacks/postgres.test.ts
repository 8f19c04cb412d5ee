/** The content API in Postgres of the servers in other languages: each with each of its clients. */
import { describe, expect, test } from "bun:test";
import { describeIf, makeDatabase, needs, scratch, startServer, stopServer } from "../harness.ts";
import { sharedPostgres } from "../postgres.ts";
import { contentSuites } from "../servers/content-suite.ts";
import { VALUES } from "../strictness.ts";
import { stacksOf } from "./build.ts";

const DB_FILE = makeDatabase(`${scratch()}/data.db`, 10);

describeIf(...needs("postgres"), "Postgres", () => {
  const shared = sharedPostgres();
  for (const { server, clients, processes } of stacksOf("content")) {
    if (clients.length === 0) continue;
    describe(server, () => {
      const env = async (by: string, user: string) => ({
        DB_FILE,
        STORE: "postgres",
        POSTGRES_CLIENT: by,
        DATABASE_URL: await shared().newUser(`${server}-${by.replace(/\W/g, "-")}${user}`),
      });
      // Every second server runs without prepared statements.
      const cells = clients.map((by, i) => ({ server, by, workers: processes ? 2 : 1, prepare: i % 2 === 0 }));
      contentSuites(
        cells,
        async ({ by, prepare }) => ({ ...(await env(by, "")), POSTGRES_PREPARE: String(prepare) }),
        VALUES,
      );

      test("servers that start at once on an empty database all start, and each names its store", async () => {
        const [by = ""] = clients;
        const settings = { SERVER: server, ...(await env(by, "-at-once")) };
        for (const one of await Promise.all([1, 2, 3].map(() => startServer(settings)))) {
          const { store } = (await (await fetch(one.url)).json()) as { store: object };
          const driver = expect.stringMatching(new RegExp(`^${by} \\d+\\.\\d+`));
          expect(store).toMatchObject({ name: "postgres", driver, pool: 10, prepare: true });
          await stopServer(one);
        }
      });
    });
  }
});
