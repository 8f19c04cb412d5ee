/** Mistakes in what starts a server, on every server: one line, the remedy, exit 1, nothing listening. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../bench/targets/local.ts";
import { finish, makeDatabase, run, SERVERS, scratch } from "./harness.ts";

const folder = scratch();
const database = makeDatabase(join(folder, "data.db"), 10);
const missing = join(folder, "none.db");
const garbage = join(folder, "garbage.db");
writeFileSync(garbage, "not a database, whatever its name says".repeat(100));
const gaps = makeDatabase(join(folder, "gaps.db"), 10);
await finish([
  "bun",
  "-e",
  `new (require("bun:sqlite").Database)(${JSON.stringify(gaps)}).run("DELETE FROM person30 WHERE id = 5")`,
]);

const CASES: [Record<string, string>, RegExp][] = [
  [{ DB_FILE: missing }, new RegExp(`no database at "${missing}": make it with: bun createdb.ts --file ${missing}`)],
  [{ DB_FILE: missing, WORKERS: "2" }, /no database at/],
  [{ DB_FILE: garbage }, /garbage.db" cannot be used \(file is not a database\): make it anew with: bun createdb.ts/],
  [{ DB_FILE: gaps }, /gaps.db" cannot be used \(person30 is empty or has gaps between its ids\)/],
  [{ SQLITE_DRIVER: "sqlite9" }, /SQLITE_DRIVER is "sqlite9": on \w+ set it to one of .*better-sqlite3 node:sqlite/],
  [{ PORT: "70000" }, /PORT is "70000": set it to an integer from 1 to 65535/],
  [{ PORT: "http" }, /PORT is "http": set it to an integer/],
  [{ WORKERS: "0" }, /WORKERS is "0": set it to an integer from 1 to 256/],
  [{ WORKERS: "two" }, /WORKERS is "two"/],
  [{ HOST: "192.0.2.1" }, /192\.0\.2\.1:\d+ cannot be listened on/],
];

for (const server of SERVERS) {
  test(server, async () => {
    const port = String(await freePort());
    for (const [env, message] of CASES) {
      const { code, output } = await finish(["sh", "servers/start.sh"], {
        SERVER: server,
        DB_FILE: database,
        PORT: port,
        ...env,
      });
      expect([env, code]).toEqual([env, 1]);
      expect(output.trim()).toMatch(message);
      expect(output.trim().split("\n")).toHaveLength(1);
      expect(await fetch(`http://127.0.0.1:${port}/`).catch(() => "refused")).toBe("refused");
    }
  });
}

describe("SERVER", () => {
  for (const name of ["", "nope", "bun", "bun-raw2", "node-", ".*"]) {
    test(`"${name}" is refused with the ten names`, async () => {
      const { code, output } = await finish(["sh", "servers/start.sh"], { SERVER: name });
      expect([code, output]).toEqual([1, `SERVER is "${name}": set it to one of ${SERVERS.join(" ")}\n`]);
    });
  }

  test("bun start is the same", async () => {
    const program = run(["bun", "start"], { SERVER: "node-raw", PORT: "70000" });
    expect((await program.ended).code).toBe(1);
    expect(program.output()).toContain('PORT is "70000"');
  });

  test("a server on the wrong runtime is refused", async () => {
    const { code, output } = await finish(["bun", "servers/main.ts", "express"], { SERVER: "node-express" });
    expect([code, output]).toEqual([
      1,
      "SERVER=node-express does not run on bun: start it with: SERVER=node-express bun start\n",
    ]);
  });
});
