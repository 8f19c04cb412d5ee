/** The content API in Postgres of the servers in other languages: each with each of its clients, prepared or not. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { STACKS } from "../../bench/ask/targets.ts";
import { findPrograms } from "../../bench/run/stores/postgres.ts";
import { describeIf, makeDatabase, type Server, scratch, startServer, stopServer } from "../harness.ts";
import { sharedPostgres } from "../postgres.ts";
import { expectRefused } from "../servers/config-suite.ts";
import { contentSuite } from "../servers/content-suite.ts";
import { buildAll, firstOfEach } from "./build.ts";

const DB_FILE = makeDatabase(`${scratch()}/data.db`);

describeIf(findPrograms() !== null, "PostgreSQL is not installed", "Postgres", () => {
  const shared = sharedPostgres();
  const builds = buildAll();

  const meant = Object.entries(STACKS).filter(([, { clients }]) => clients.length > 0);
  const cells = meant.flatMap(([server, { runtime, clients }]) =>
    clients.map((client) => ({ server, runtime, client })),
  );
  /** Frameworks of a language share what keeps content items. */
  const stores = firstOfEach(cells, ({ runtime, client }) => `${runtime} ${client}`);

  for (const [server, stack] of meant) {
    const { isBuilt = false, reason = "" } = builds.get(server) ?? {};
    describeIf(isBuilt, reason, server, () => {
      const { runtime, clients, processes } = stack;

      const isStore = (client: string) => stores.some((one) => one.server === server && one.client === client);
      describe.each(clients.filter((client, i) => i === 0 || isStore(client)))("%s", (client) => {
        const env = { SERVER: server, STORE: "postgres", POSTGRES_CLIENT: client, DB_FILE };
        const user = (what: string) => shared().newUser(`${server}-${client.replace(/\W/g, "-")}-${what}`);
        const ends = async ({ child, ended }: Server) => {
          child.kill("SIGTERM");
          expect(await ended).toEqual({ code: 0, signal: null });
        };

        const ways = [
          { POSTGRES_PREPARE: "true", workers: processes ? 2 : 1 },
          ...(isStore(client) ? [{ POSTGRES_PREPARE: "false", workers: 1 }] : []),
        ];
        for (const { POSTGRES_PREPARE, workers } of ways) {
          describe(`prepare=${POSTGRES_PREPARE} *${workers}`, () => {
            let one: Server;
            beforeAll(async () => {
              const DATABASE_URL = await user(POSTGRES_PREPARE);
              one = await startServer({ ...env, DATABASE_URL, POSTGRES_PREPARE, WORKERS: String(workers) });
            });
            afterAll(() => stopServer(one));

            contentSuite(server, workers, () => one);

            test("GET / names its store", async () => {
              expect(await (await fetch(one.url)).json()).toMatchObject({
                store: {
                  name: "postgres",
                  driver: expect.stringMatching(new RegExp(`^${client} \\d+\\.\\d+`)),
                  pool: 10,
                  prepare: POSTGRES_PREPARE === "true",
                },
              });
            });

            test("nothing was logged, and SIGTERM ends it", async () => {
              expect(one.output()).toBe("");
              await ends(one);
            });
          });
        }

        if (!isStore(client)) return;

        test("of servers that start at once on an empty database, each starts", async () => {
          const DATABASE_URL = await user("at-once");
          await Promise.all((await Promise.all([1, 2, 3].map(() => startServer({ ...env, DATABASE_URL })))).map(ends));
        });

        test("a database that is away is a 503 until it is back", async () => {
          const one = await startServer({ ...env, DATABASE_URL: await user("away") });
          const list = () => fetch(`${one.url}/content`);
          expect((await list()).status).toBe(200);
          const { sql, postgres } = shared();
          await sql.unsafe("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()");
          await postgres.stopServer();
          const answer = await list();
          expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
          expect(await answer.json()).toEqual({ error: "the store cannot be reached" });
          await postgres.startServer();
          const since = Date.now();
          while ((await list()).status === 503) expect(Date.now() - since).toBeLessThan(10_000);
          expect((await list()).status).toBe(200);
          expect(one.output()).toBe("");
          await ends(one);
        });
      });

      if (!clients.some(isStore)) return;
      test("mistakes are one line", () => {
        const away = "postgres://me:secret@127.0.0.1:1/my";
        // The other files' database went with their tests.
        return expectRefused(
          server,
          [
            [{ STORE: "redis" }, /^STORE is "redis": set it to one of sqlite .*postgres$/],
            [
              { POSTGRES_CLIENT: "mysql" },
              new RegExp(`^POSTGRES_CLIENT is "mysql": on ${runtime} set it to one of ${clients.join(" ")}$`),
            ],
            [{ POSTGRES_POOL: "0" }, /^POSTGRES_POOL is "0": set it to an integer from 1 to 1000$/],
            [{ POSTGRES_PREPARE: "1" }, /^POSTGRES_PREPARE is "1": set it to one of true false$/],
            ...clients.map(
              (client) =>
                [
                  { STORE: "postgres", POSTGRES_CLIENT: client, DATABASE_URL: away },
                  /^postgres:\/\/127.0.0.1:1\/my cannot be used \((?!.*secret).+\): start Postgres, or fix DATABASE_URL$/,
                ] as const,
            ),
          ],
          DB_FILE,
        );
      });
    });
  }
});
