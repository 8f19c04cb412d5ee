/** /tx of the ten servers. */
import { expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { CLIENTS, type Runtime } from "../../shared/drivers/drivers.ts";
import { openapiOfPostgres } from "../../shared/tpcb/openapi.ts";
import { describeIf, must, needs, SERVERS, testIf } from "../harness.ts";
import { ask } from "../postgres.ts";
import { EXACT } from "../strictness.ts";
import { type Cell, tpcbSuite } from "./tpcb-suite.ts";

const runtimeOf = (server: string) => server.slice(0, server.indexOf("-")) as Runtime;
/** Each client, on the raw servers. */
const CLIENTS_ALONE: readonly Cell[] = SERVERS.filter((server) => server.endsWith("-raw")).flatMap((SERVER) =>
  CLIENTS[runtimeOf(SERVER)].map((POSTGRES_CLIENT) => ({ SERVER, POSTGRES_CLIENT })),
);
const WAYS: readonly Cell[] = [
  ...CLIENTS_ALONE,
  ...CLIENTS_ALONE.map((cell) => ({ ...cell, POSTGRES_TX: "function" })),
  ...CLIENTS_ALONE.map((cell) => ({ ...cell, POSTGRES_PREPARE: "false" })),
];
/** Each framework with its runtime's usual client. */
const OTHERS: readonly Cell[] = SERVERS.filter((server) => !server.endsWith("-raw")).map((SERVER) => ({
  SERVER,
  POSTGRES_CLIENT: CLIENTS[runtimeOf(SERVER)][0],
}));

test("/openapi.json of a server on Postgres is valid", async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(openapiOfPostgres));
  expect([valid, errors]).toEqual([true, undefined]);
});

describeIf(...needs("postgres"), "/tx", () => {
  const { urlOf, newDatabase } = tpcbSuite({ alone: CLIENTS_ALONE, ways: WAYS, others: OTHERS }, EXACT);

  testIf(...needs("pgbench"), "tables and rows equal those of pgbench -i", async () => {
    const { hostname, port, password } = new URL(urlOf("theirs"));
    await newDatabase("theirs");
    const args = ["-i", "-q", "-s", "1", "-h", hostname, "-p", port, "-U", "postgres", "theirs"];
    must(["pgbench", ...args], { PGPASSWORD: password });
    const facts = [
      "SELECT table_name, column_name, data_type, character_maximum_length, is_nullable FROM information_schema.columns WHERE table_name LIKE 'pgbench%' ORDER BY table_name, ordinal_position",
      "SELECT indexdef FROM pg_indexes WHERE tablename LIKE 'pgbench%' ORDER BY 1",
      "SELECT relname, relkind, reloptions::text, relpersistence FROM pg_class WHERE relname LIKE 'pgbench%' ORDER BY 1",
      ...["accounts", "branches", "tellers", "history"].map(
        (name) => `SELECT count(*), md5(string_agg(t::text, ',' ORDER BY t::text)) FROM pgbench_${name} AS t`,
      ),
    ];
    for (const fact of facts)
      expect([...(await ask(urlOf("tpcb"), fact))]).toEqual([...(await ask(urlOf("theirs"), fact))]);
  });
});
