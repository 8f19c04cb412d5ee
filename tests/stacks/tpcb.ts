import { STACKS, type Stack } from "../../bench/plan/targets.ts";
import { findPrograms } from "../../bench/stores/postgres.ts";
import { describeIf } from "../harness.ts";
import { inAllWays, tpcbSuite } from "../servers/tpcb-suite.ts";
import { buildAll } from "./build.ts";

/** /tx of servers in other languages; in two files, which run beside each other. */
export function tpcbOf(isMeant: (stack: Stack) => boolean): void {
  describeIf(findPrograms() !== null, "PostgreSQL is not installed", "/tx", () => {
    const builds = buildAll();
    for (const [SERVER, stack] of Object.entries(STACKS)) {
      if (!stack.workloads.includes("tpcb") || !isMeant(stack)) continue;
      const { isBuilt = false, reason = "" } = builds.get(SERVER) ?? {};
      describeIf(isBuilt, reason, SERVER, () => {
        const alone = stack.clients.map((POSTGRES_CLIENT) => ({ SERVER, POSTGRES_CLIENT }));
        tpcbSuite(alone, inAllWays(alone));
      });
    }
  });
}
