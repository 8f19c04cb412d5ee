/** The suites of the ten over the servers in other languages; those whose toolchain is missing are skipped, and said. */

import { describe, test } from "bun:test";
import { STACKS } from "../../bench/plan/targets.ts";
import { describeIf } from "../harness.ts";
import { expectRefused, MISTAKES, type Mistake, OF_LISTENING } from "../servers/config-suite.ts";
import { contractSuite } from "../servers/contract-suite.ts";
import { buildAll } from "./build.ts";

const builds = buildAll();

for (const [server, stack] of Object.entries(STACKS)) {
  const { isBuilt = false, reason = "" } = builds.get(server) ?? {};
  const { runtime, framework, drivers, processes, workloads } = stack;
  describeIf(isBuilt, reason, server, () => {
    for (const [i, driver] of drivers.entries()) {
      const workers = processes && i === 0 ? 2 : 1;
      const content = workloads.includes("content");
      describe(`${driver}*${workers}`, () =>
        contractSuite({ server, runtime, framework, driver, workers, supervised: false, content }));
    }
    const others: Mistake[] = [
      [
        { SQLITE_DRIVER: "sqlite9" },
        new RegExp(`^SQLITE_DRIVER is "sqlite9": on ${runtime} set it to one of ${drivers.join(" ")}$`),
      ],
      ...(processes ? [] : [[{ WORKERS: "2" }, /^WORKERS is "2": .* every core by threads: leave it out$/] as const]),
    ];
    test("mistakes are one line", () => expectRefused(server, [...OF_LISTENING, ...MISTAKES, ...others]));
  });
}
