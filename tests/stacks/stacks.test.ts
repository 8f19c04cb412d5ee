/** The suites of the ten over the servers in other languages; those whose toolchain is missing are skipped, and said. */

import { describe, test } from "bun:test";
import { folderOf, STACKS } from "../../bench/ask/targets.ts";
import { describeIf } from "../harness.ts";
import { expectRefused, MISTAKES, type Mistake, OF_LISTENING } from "../servers/config-suite.ts";
import { contractSuite } from "../servers/contract-suite.ts";
import { buildAll, firstOfEach } from "./build.ts";

const builds = buildAll();
const all = Object.entries(STACKS).map(([server, stack]) => ({ server, stack, folder: folderOf(stack) }));
/** Servers of one folder share what reads their configuration, and their drivers. */
const readers = firstOfEach(all, ({ folder }) => folder).map(({ server }) => server);
const drivers = firstOfEach(
  all.flatMap((one) => one.stack.drivers.map((driver) => ({ ...one, driver }))),
  ({ folder, driver }) => `${folder} ${driver}`,
);

for (const { server, stack } of all) {
  const { isBuilt = false, reason = "" } = builds.get(server) ?? {};
  const { runtime, framework, processes, workloads } = stack;
  describeIf(isBuilt, reason, server, () => {
    for (const [i, driver] of stack.drivers.entries()) {
      if (i > 0 && !drivers.some((one) => one.server === server && one.driver === driver)) continue;
      const workers = processes && i === 0 ? 2 : 1;
      const content = workloads.includes("content");
      describe(`${driver}*${workers}`, () =>
        contractSuite({ server, runtime, framework, driver, workers, supervised: false, content }));
    }
    const others: Mistake[] = [
      [
        { SQLITE_DRIVER: "sqlite9" },
        new RegExp(`^SQLITE_DRIVER is "sqlite9": on ${runtime} set it to one of ${stack.drivers.join(" ")}$`),
      ],
      ...(processes ? [] : [[{ WORKERS: "2" }, /^WORKERS is "2": .* every core by threads: leave it out$/] as const]),
    ];
    test("mistakes are one line", () =>
      expectRefused(server, [...OF_LISTENING, ...others, ...(readers.includes(server) ? MISTAKES : [])]));
  });
}
