import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PEOPLE } from "../../shared/people.ts";
import { describeIf, finish, run, scratch, until } from "../harness.ts";

/** Hash of 1,000 rows with seed 1. Only other columns, or another faker or better-sqlite3, may change it. */
const SHA256 = "6522276d86da224ac62b22e1e3f0298533f51b4a3b89b2dea7e4899d9cbde094";

const folder = scratch();
const createdb = (file: string, ...args: string[]) => ["bun", "createdb.ts", "--file", file, ...args];
const hash = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

test("the same bytes in any time zone and language", async () => {
  const file = join(folder, "same.db");
  for (const env of [{ TZ: "UTC" }, { TZ: "Asia/Tokyo", LANG: "de_DE.UTF-8" }, { TZ: "America/St_Johns" }]) {
    expect((await finish(createdb(file, "--rows", "1000"), env)).code).toBe(0);
    expect(hash(file)).toBe(SHA256);
  }
});

test("another seed makes other rows", async () => {
  const file = join(folder, "other.db");
  expect((await finish(createdb(file, "--rows", "1000", "--seed", "2"))).code).toBe(0);
  expect(hash(file)).not.toBe(SHA256);
});

describe("tables", () => {
  const file = join(folder, "tables.db");
  let database: Database;
  beforeAll(async () => {
    expect((await finish(createdb(file, "--rows", "3000"))).code).toBe(0);
    database = new Database(file, { readonly: true });
  });
  afterAll(() => database.close());

  for (const [table, columns] of Object.entries(PEOPLE)) {
    test(`${table} has ids without gaps and ${columns.length} fields, none empty`, () => {
      const info = database.query<{ name: string; type: string }, []>(`PRAGMA table_info(${table})`).all();
      expect(info.map(({ name, type }) => ({ name, type }))).toEqual([
        { name: "id", type: "INTEGER" },
        ...columns.map(({ name, type }) => ({ name, type })),
      ]);
      expect(database.query(`SELECT min(id) a, max(id) b, count(*) c FROM ${table}`).get()).toEqual({
        a: 1,
        b: 3000,
        c: 3000,
      });
      for (const { name, type } of columns) {
        const storage = database.query<{ t: string }, []>(`SELECT DISTINCT typeof(${name}) t FROM ${table}`).all();
        for (const { t } of storage) expect(type === "REAL" ? ["real", "integer"] : [type.toLowerCase()]).toContain(t);
        expect(database.query(`SELECT count(*) n FROM ${table} WHERE ${name} = ''`).get()).toEqual({ n: 0 });
      }
    });
  }

  test("rows differ", () => {
    expect(
      database.query("SELECT count(*) n FROM (SELECT DISTINCT first_name, last_name, email FROM person30)").get(),
    ).toEqual({ n: 3000 });
  });
});

test("an interrupted run leaves the old file and nothing else", async () => {
  const own = join(folder, "interrupted");
  mkdirSync(own);
  const file = join(own, "data.db");
  await finish(createdb(file, "--rows", "1000"));
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    const program = run(createdb(file, "--rows", "5000000"));
    await until(() => readdirSync(own).some((name) => name.endsWith(".tmp")));
    program.child.kill(signal);
    expect((await program.ended).code).toBe(signal === "SIGINT" ? 130 : 143);
    expect(readdirSync(own)).toEqual(["data.db"]);
    expect(hash(file)).toBe(SHA256);
  }
});

test("bad input prints one line and exits 1", async () => {
  const text = join(folder, "notes.txt");
  writeFileSync(text, "mine");
  const cases: [string[], string][] = [
    [["--rows", "abc"], "option '--rows <n>' argument 'abc' is invalid. It must be an integer from 1 to"],
    [["--rows", "0"], "argument '0' is invalid"],
    [["--rows", "1.5"], "argument '1.5' is invalid"],
    [["--seed", "-1"], "argument '-1' is invalid"],
    [["--file", join(folder, "no/such/data.db"), "--rows", "10"], "cannot be written"],
    [["--file", text, "--rows", "10"], "is no SQLite database"],
    [["--file", "/proc/data.db", "--rows", "10"], "cannot be written"],
    [["--tpcb", "--scale", "0"], "option '--scale <n>' argument '0' is invalid. It must be an integer from 1 to"],
    [["--tpcb", "--postgres", "postgres://me:secret@127.0.0.1:1/x"], '"postgres://127.0.0.1:1/x" cannot be written'],
    [["--colour"], "unknown option"],
    [["extra"], "too many arguments"],
  ];
  for (const [args, message] of cases) {
    const { code, output } = await finish(["bun", "createdb.ts", ...args]);
    expect([args, code]).toEqual([args, 1]);
    expect(output).toContain(message);
    expect(output.trim().split("\n")).toHaveLength(1);
  }
  expect(readFileSync(text, "utf8")).toBe("mine");
});

const disk = join(folder, "disk");
const mounted = () =>
  mkdirSync(disk) ?? spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]).status === 0;
describeIf(mounted(), "a file system of 1 MB cannot be mounted without root", "a full disk", () => {
  afterAll(() => {
    spawnSync("umount", [disk]);
  });
  test("prints one line, and does not change the disk", async () => {
    const file = join(disk, "data.db");
    expect((await finish(createdb(file, "--rows", "100"))).code).toBe(0);
    const before = hash(file);
    const { code, output } = await finish(createdb(file, "--rows", "20000"));
    expect(code).toBe(1);
    expect(output).toContain(`"${file}" cannot be written (database or disk is full)`);
    expect(output.trim().split("\n")).toHaveLength(1);
    expect(readdirSync(disk)).toEqual(["data.db"]);
    expect(hash(file)).toBe(before);
  });
});

test("a progress bar on a terminal", () => {
  const { stdout, status } = spawnSync("script", [
    "-qec",
    createdb(join(folder, "bar.db"), "--rows", "50000").join(" "),
    "/dev/null",
  ]);
  expect(status).toBe(0);
  expect(String(stdout)).toMatch(/100% 100000\/100000 rows/);
  expect(existsSync(join(folder, "bar.db"))).toBe(true);
});
