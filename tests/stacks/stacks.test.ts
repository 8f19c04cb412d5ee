/** The suites of the ten over the servers in other languages; those whose toolchain is missing are skipped, and said. */

import { describe, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { NO_TOOLCHAIN } from "../../bench/commands/stacks.ts";
import { folderOf, STACKS } from "../../bench/plan/targets.ts";
import { describeIf } from "../harness.ts";
import { expectRefused, MISTAKES, type Mistake, OF_LISTENING } from "../servers/config-suite.ts";
import { contractSuite } from "../servers/contract-suite.ts";

/** Folder -> how its build.sh ended. */
const builds = new Map(
  [...new Set(Object.values(STACKS).map(folderOf))].map((folder) => {
    const { status, stdout, stderr } = spawnSync("sh", [`${folder}/build.sh`], { encoding: "utf8" });
    const output = `${stdout}${stderr}`.trim();
    if (status !== 0 && status !== NO_TOOLCHAIN) throw new Error(`${folder}/build.sh: ${output}`);
    return [folder, { isBuilt: status === 0, reason: output.split("\n").at(-1) as string }] as const;
  }),
);

for (const [server, stack] of Object.entries(STACKS)) {
  const { isBuilt = false, reason = "" } = builds.get(folderOf(stack)) ?? {};
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
