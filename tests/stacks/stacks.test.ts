/** The suites of the ten over the servers in other languages; those whose toolchain is missing are skipped, and said. */

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { STACKS } from "../../bench/plan/targets.ts";
import { freePort } from "../../bench/targets/free-port.ts";
import { describeIf, makeDatabase, run, scratch, startServer, until } from "../harness.ts";
import { expectRefused, MISTAKES, type Mistake, OF_LISTENING } from "../servers/config-suite.ts";
import { contractSuite } from "../servers/contract-suite.ts";
import { buildAll } from "./build.ts";

const builds = buildAll();
const folder = scratch();

/** What a server answers: its rows by their columns, as they are drawn. */
async function answersOf(url: string): Promise<string[]> {
  const texts = ["/plain", "/html-template", "/sqlite/random-5fields/2", "/sqlite/random-30fields/2"].map(
    async (path) => (await fetch(url + path)).text(),
  );
  const [plain, html, ...rows] = await Promise.all(texts);
  return [plain, html, ...rows.map((text) => JSON.stringify(JSON.parse(text).map(Object.keys)))].map((text) =>
    `${text}`.trim(),
  );
}

for (const [server, stack] of Object.entries(STACKS)) {
  const { isBuilt = false, reason = "" } = builds.get(server) ?? {};
  const { byHand, runtime, framework, drivers, processes, workloads } = stack;
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
    if (byHand) {
      test("the program by hand answers the same", async () => {
        const DB_FILE = makeDatabase(join(folder, "data.db"), 100_000);
        const PORT = String(await freePort());
        const twin = run(byHand.split(" "), { DB_FILE, PORT });
        const running = await startServer({ SERVER: server, DB_FILE });
        try {
          const url = `http://127.0.0.1:${PORT}`;
          await until(async () => (await fetch(url).catch(() => null))?.ok === true);
          expect(await answersOf(url)).toEqual(await answersOf(running.url));
        } finally {
          for (const { child } of [twin, running]) child.kill(); // some have processes of their own
          await Promise.all([twin.ended, running.ended]);
        }
      });
    }
    test("mistakes are one line", () => expectRefused(server, [...OF_LISTENING, ...MISTAKES, ...others]));
  });
}
