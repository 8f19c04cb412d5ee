/**
 * The content API in memory and in Postgres: each adapter with its runtime's default client, and each client with the
 * raw servers and one or two workers. contract.test.ts tests SQLite.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findPrograms } from "../../bench/run/stores/postgres.ts";
import { CLIENTS, type Runtime } from "../../shared/drivers/drivers.ts";
import { describeIf, makeDatabase, SERVERS, type Server, scratch, startServer, stopServer } from "../harness.ts";
import { sharedPostgres } from "../postgres.ts";
import { contentSuite } from "./content-suite.ts";

const RAW = SERVERS.filter((server) => server.endsWith("-raw"));
const DB_FILE = makeDatabase(`${scratch()}/data.db`);

interface Cell {
  readonly server: string;
  readonly workers: number;
  /** Client of Postgres. */
  readonly by?: string;
}

/** Starts all servers at the same time, which is faster. */
function suites(cells: readonly Cell[], settings: (cell: Cell) => Promise<Record<string, string>>): void {
  let servers: Server[] = [];
  beforeAll(async () => {
    const start = async (cell: Cell) =>
      startServer({ SERVER: cell.server, WORKERS: String(cell.workers), DB_FILE, ...(await settings(cell)) });
    servers = await Promise.all(cells.map(start));
  });
  afterAll(() => Promise.all(servers.map(stopServer)));

  for (const [i, { server, workers, by }] of cells.entries()) {
    describe(by ? `${server}@${by}*${workers}` : server, () => {
      contentSuite(server, workers, () => servers[i] as Server);
      test("nothing was logged", () => expect(servers[i]?.output()).toBe(""));
    });
  }
  test("SIGTERM ends them", async () => {
    for (const { child } of servers) child.kill("SIGTERM");
    const ends = await Promise.all(servers.map(({ ended }) => ended));
    expect(ends).toEqual(cells.map(() => ({ code: 0, signal: null })));
  });
}

describe("memory", () =>
  suites(
    RAW.map((server) => ({ server, workers: 1 })),
    async () => ({ STORE: "memory" }),
  ));

describeIf(findPrograms() !== null, "PostgreSQL is not installed", "Postgres", () => {
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
      suites(cells, async ({ server, workers, by = "" }) => ({
        STORE: "postgres",
        POSTGRES_CLIENT: by,
        DATABASE_URL: await shared().newUser(`${server}-${by.replace(":", "-")}-${workers}`),
      })),
    );
  }
});
