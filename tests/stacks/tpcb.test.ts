/** /tx of the servers in other languages. */

import { STACKS } from "../../bench/plan/targets.ts";
import { findPrograms } from "../../bench/stores/postgres.ts";
import { describeIf } from "../harness.ts";
import { inAllWays, tpcbSuite } from "../servers/tpcb-suite.ts";
import { buildAll } from "./build.ts";

describeIf(findPrograms() !== null, "PostgreSQL is not installed", "/tx", () => {
  const builds = buildAll();
  for (const [SERVER, { clients, workloads }] of Object.entries(STACKS)) {
    if (!workloads.includes("tpcb")) continue;
    const { isBuilt = false, reason = "" } = builds.get(SERVER) ?? {};
    describeIf(isBuilt, reason, SERVER, () => {
      const alone = clients.map((POSTGRES_CLIENT) => ({ SERVER, POSTGRES_CLIENT }));
      tpcbSuite(alone, inAllWays(alone));
    });
  }
});
