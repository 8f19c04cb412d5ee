/** Writes data.db: the same bytes on every machine for the same seed, rows and package versions. */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { base, en, Faker, generateMersenne53Randomizer, type Randomizer } from "@faker-js/faker";
import BetterSqlite3 from "better-sqlite3"; // carries its own SQLite, unlike bun:sqlite on macOS
import { SingleBar } from "cli-progress";
import { Command, InvalidArgumentError } from "commander";
import { exitWith, UsageError } from "./shared/errors.ts";
import { type Column, PEOPLE } from "./shared/people.ts";
import { readBytes } from "./shared/read-bytes.ts";

/** Values drawn from faker per column. A call to faker costs microseconds, a pick from a pool nanoseconds. */
const POOL = 2_000;
/** Rows between two looks at the progress bar and at signals. */
const BATCH = 2_000;

const integer = (least: number, most: number) => (text: string) => {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new InvalidArgumentError(`It must be an integer from ${least} to ${most}.`);
};

const options = new Command("bun createdb.ts")
  .description("Writes the SQLite database that the servers read.")
  .option("--rows <n>", "rows per table", integer(1, 100_000_000), 100_000)
  .option("--seed <n>", "seed of the random values", integer(0, 2 ** 32 - 1), 1)
  .option("--file <path>", "where to write it", "data.db")
  .allowExcessArguments(false)
  .parse()
  .opts<{ rows: number; seed: number; file: string }>();

const temporary = `${options.file}.${process.pid}.tmp`;
const removeTemporary = () => rmSync(temporary, { force: true });
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.on(signal, () => {
    removeTemporary();
    process.exit(code);
  });
}

try {
  refuseOther(options.file);
  await write(temporary);
  renameSync(temporary, options.file);
  console.log(
    `${options.file}: ${options.rows} rows in each of ${Object.keys(PEOPLE).join(" and ")}, seed ${options.seed}`,
  );
} catch (cause) {
  removeTemporary();
  if (cause instanceof UsageError) exitWith(cause);
  const reason = cause instanceof Error ? cause.message : cause;
  exitWith(
    new UsageError(`"${options.file}" cannot be written (${reason}): free some space or choose another with --file`),
  );
}

/** @throws where `file` holds something else than a database: it would be lost. */
function refuseOther(file: string): void {
  if (existsSync(file) && String(readBytes(file, 0, 16)) !== "SQLite format 3\0") {
    throw new UsageError(`"${file}" exists and is no SQLite database: choose another with --file`);
  }
}

async function write(file: string): Promise<void> {
  const randomizer = generateMersenne53Randomizer(options.seed);
  const db = new BetterSqlite3(file);
  const bar = new SingleBar({ format: "{bar} {percentage}% {value}/{total} rows, {eta_formatted} left" });
  try {
    // Nothing kept on disk to undo it: the file is thrown away unless it is finished, and synced once, below.
    db.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN");
    if (process.stderr.isTTY) bar.start(options.rows * Object.keys(PEOPLE).length, 0);
    for (const [table, columns] of Object.entries(PEOPLE)) {
      db.exec(
        `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, ${columns.map(({ name, type }) => `${name} ${type} NOT NULL`)})`,
      );
      const insert = db.prepare(`INSERT INTO ${table} VALUES (NULL${", ?".repeat(columns.length)})`);
      const nextRow = rowMaker(randomizer, columns);
      for (let row = 1; row <= options.rows; row++) {
        insert.run(nextRow());
        if (row % BATCH !== 0 && row !== options.rows) continue;
        bar.increment(row % BATCH || BATCH);
        await setImmediate();
      }
    }
    db.exec("COMMIT");
  } finally {
    bar.stop();
    db.close();
  }
  const written = openSync(file, "r+");
  fsyncSync(written);
  closeSync(written);
}

/** @returns a function that makes one row, each value picked from the pool of its column. */
function rowMaker(randomizer: Randomizer, columns: readonly Column[]): () => (string | number)[] {
  const faker = new Faker({ locale: [en, base], randomizer });
  const pools = columns.map(({ make }) => Array.from({ length: POOL }, () => make(faker)));
  return () => pools.map((pool) => pool[Math.floor(randomizer.next() * POOL)] as string | number);
}
