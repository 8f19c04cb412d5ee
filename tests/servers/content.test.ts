/**
 * The content API in memory and in Postgres: each adapter with its runtime's default client, and each client with the
 * raw servers and one or two workers. contract.test.ts tests SQLite.
 */
import { describe, test } from "bun:test";
import { CLIENTS, type Runtime } from "../../shared/drivers/drivers.ts";
import { describeIf, makeDatabase, needs, SERVERS, scratch, startServer, stopServer } from "../harness.ts";
import { sharedPostgres } from "../postgres.ts";
import { EXACT } from "../strictness.ts";
import { contentSuites } from "./content-suite.ts";

const RAW = SERVERS.filter((server) => server.endsWith("-raw"));
const DB_FILE = makeDatabase(`${scratch()}/data.db`);

describe("memory", () =>
  contentSuites(
    RAW.map((server) => ({ server, workers: 1 })),
    async () => ({ STORE: "memory", DB_FILE }),
    EXACT,
  ));

describeIf(...needs("postgres"), "Postgres", () => {
  const shared = sharedPostgres();

  test("several servers can start at once on an empty database", async () => {
    const DATABASE_URL = await shared().newUser("at-once");
    const start = (POSTGRES_CLIENT: string) =>
      startServer({ SERVER: "bun-raw", STORE: "postgres", POSTGRES_CLIENT, DATABASE_URL, DB_FILE });
    const servers = await Promise.all([...CLIENTS.bun, ...CLIENTS.bun].map(start));
    await Promise.all(servers.map(stopServer));
  });

  for (const server of SERVERS) {
    const clients = CLIENTS[server.slice(0, server.indexOf("-")) as Runtime];
    const cells = RAW.includes(server)
      ? clients.flatMap((by) => [1, 2].map((workers) => ({ server, workers, by })))
      : [{ server, workers: 1, by: clients[0] }];
    describe(server, () =>
      contentSuites(
        cells,
        async ({ server, workers, by = "" }) => ({
          STORE: "postgres",
          POSTGRES_CLIENT: by,
          DATABASE_URL: await shared().newUser(`${server}-${by.replace(":", "-")}-${workers}`),
          DB_FILE,
        }),
        EXACT,
      ),
    );
  }
});
