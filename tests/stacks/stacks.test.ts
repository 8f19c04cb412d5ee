/** The suites of the ten over the servers in other languages; those whose toolchain is missing are skipped, and said. */

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { folderOf, STACKS } from "../../bench/ask/targets.ts";
import { describeIf, endServer, makeDatabase, type Server, scratch, startServer } from "../harness.ts";
import { expectRefused, MISTAKES, type Mistake, OF_LISTENING } from "../servers/config-suite.ts";
import { contractSuite } from "../servers/contract-suite.ts";
import { emptyContents, expectContent } from "../servers/handwritten-suite.ts";
import { buildAll, firstOfEach } from "./build.ts";

const builds = buildAll();
const all = Object.entries(STACKS).map(([server, stack]) => ({ server, stack, folder: folderOf(stack) }));
/** Servers of one folder share what reads their configuration, and their drivers. */
const readers = firstOfEach(all, ({ folder }) => folder).map(({ server }) => server);
const drivers = firstOfEach(
  all.flatMap((one) => one.stack.drivers.map((driver) => ({ ...one, driver }))),
  ({ folder, driver }) => `${folder} ${driver}`,
);
const DB_FILE = makeDatabase(join(scratch(), "data.db"), 100_000);

/** What a server answers: of rows, which are drawn, their columns. */
function answersOf({ url }: Server) {
  const textOf = async (path: string) => (await fetch(url + path)).text();
  const columnsOf = async (path: string) => JSON.parse(await textOf(path)).map(Object.keys);
  return Promise.all([
    textOf("/plain"),
    textOf("/html-template"),
    columnsOf("/sqlite/random-5fields/2"),
    columnsOf("/sqlite/random-30fields/2"),
  ]);
}

for (const { server, stack } of all) {
  const { isBuilt = false, reason = "" } = builds.get(server) ?? {};
  const { byHand, runtime, framework, processes, workloads } = stack;
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
    if (byHand) {
      test("the program by hand answers the same", async () => {
        const running = await Promise.all([
          startServer({ SERVER: server, DB_FILE }),
          startServer({ DB_FILE, CONTENT_FILE: emptyContents() }, byHand.split(" ")),
        ]);
        try {
          const [ours, twins] = await Promise.all(running.map(answersOf));
          expect(twins).toEqual(ours);
          if (workloads.includes("content")) await expectContent((running[1] as Server).url);
        } finally {
          await Promise.all(running.map(endServer));
        }
      });
    }
    test("mistakes are one line", () =>
      expectRefused(server, [...OF_LISTENING, ...others, ...(readers.includes(server) ? MISTAKES : [])]));
  });
}
