import { expect, test } from "bun:test";
import { STACKS, type Stack } from "../../bench/ask/targets.ts";
import { findPrograms } from "../../bench/run/stores/postgres.ts";
import { describeIf } from "../harness.ts";
import { inAllWays, tpcbSuite } from "../servers/tpcb-suite.ts";
import { buildAll, firstOfEach } from "./build.ts";

/** /tx of servers in other languages; in two files, which run beside each other. */
export function tpcbOf(isMeant: (stack: Stack) => boolean): void {
  describeIf(findPrograms() !== null, "PostgreSQL is not installed", "/tx", () => {
    const builds = buildAll();
    const meant = Object.entries(STACKS).filter(([, one]) => one.workloads.includes("tpcb") && isMeant(one));
    for (const [server] of meant) {
      const { isBuilt = false, reason = "" } = builds.get(server) ?? {};
      describeIf(isBuilt, reason, server, () => test("is built", () => expect(isBuilt).toBe(true)));
    }
    const cells = meant
      .filter(([server]) => builds.get(server)?.isBuilt)
      .flatMap(([SERVER, { runtime, clients }]) =>
        clients.map((POSTGRES_CLIENT) => ({ runtime, cell: { SERVER, POSTGRES_CLIENT } })),
      );
    // Frameworks of a language share what asks Postgres.
    const cellsOf = (all: typeof cells) => all.map(({ cell }) => cell);
    const alone = cellsOf(firstOfEach(cells, ({ runtime, cell }) => `${runtime} ${cell.POSTGRES_CLIENT}`));
    const others = cellsOf(firstOfEach(cells, ({ cell }) => cell.SERVER)).filter((cell) => !alone.includes(cell));
    if (alone.length > 0) tpcbSuite(alone, [...inAllWays(alone), ...others]);
  });
}
