/** A wrong setting: the server prints one line with the remedy, exits 1 and does not listen. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { finish, makeDatabase, START, scratch } from "../harness.ts";

/** The setting, and the expected message. */
export type Mistake = readonly [env: Record<string, string>, message: RegExp];

const folder = scratch();
export const database = makeDatabase(join(folder, "data.db"), 10);
export const missing = join(folder, "none.db");
export const garbage = join(folder, "garbage.db");
writeFileSync(garbage, "not a database, whatever its name says".repeat(100));
const gaps = makeDatabase(join(folder, "gaps.db"), 10);
await finish([
  "bun",
  "-e",
  `new (require("bun:sqlite").Database)(${JSON.stringify(gaps)}).run("DELETE FROM person30 WHERE id = 5")`,
]);

/** Detected before the framework is loaded. */
export const MISTAKES: readonly Mistake[] = [
  [{ DB_FILE: missing }, new RegExp(`no database at "${missing}": make it with: bun createdb.ts --file ${missing}`)],
  [{ DB_FILE: garbage }, /garbage.db" cannot be used \(.*file is not a database.*\): make it again with: bun createdb/],
  [{ DB_FILE: gaps }, /gaps.db" cannot be used \(person30 is empty or has gaps between its ids\)/],
  [{ PORT: "70000" }, /PORT is "70000": set it to an integer from 1 to 65535/],
  [{ PORT: "http" }, /PORT is "http": set it to an integer/],
  [{ WORKERS: "0" }, /WORKERS is "0": set it to an integer from 1 to 256/],
  [{ WORKERS: "two" }, /WORKERS is "two"/],
];
/** Detected when the server listens. */
export const OF_LISTENING: readonly Mistake[] = [[{ HOST: "192.0.2.1" }, /192\.0\.2\.1:\d+ cannot be listened on/]];

/** Starts one server per setting, all at the same time. */
export async function expectRefused(server: string, mistakes: readonly Mistake[]): Promise<void> {
  const least = 10_000 + 30 * (process.pid % 700); // below the ports that the kernel gives to other test files
  const refused = async ([env, message]: Mistake, i: number) => {
    const PORT = String(least + i);
    const { code, output } = await finish(START, { SERVER: server, DB_FILE: database, PORT, ...env });
    expect([env, code]).toEqual([env, 1]);
    expect(output.trim()).toMatch(message);
    expect(output.trim().split("\n")).toHaveLength(1);
    expect(await fetch(`http://127.0.0.1:${PORT}/`).catch(() => "refused")).toBe("refused");
  };
  await Promise.all(mistakes.map(refused));
}
