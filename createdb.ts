/**
 * Writes data.db. With --contents, writes content items and users instead; with --tpcb, the tables of pgbench -i.
 * The same seed, rows and package versions give the same bytes on every machine.
 */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { base, en, Faker, generateMersenne53Randomizer, type Randomizer } from "@faker-js/faker";
import BetterSqlite3 from "better-sqlite3"; // bundles SQLite, but bun:sqlite on macOS uses the system's SQLite
import { SingleBar } from "cli-progress";
import { Command, InvalidArgumentError } from "commander";
import { DATABASE_URL } from "./shared/config.ts";
import { SAMPLES } from "./shared/content/samples.ts";
import { exitWith, UsageError } from "./shared/errors.ts";
import { type Column, PEOPLE } from "./shared/people.ts";
import { readBytes } from "./shared/read-bytes.ts";
import { MIGRATIONS } from "./shared/stores/migrations.ts";
import { rowsAt, tablesAt } from "./shared/tpcb/tables.ts";

/** Values made per column. Rows pick from them: calling faker takes microseconds, a pick takes nanoseconds. */
const POOL = 2_000;
/** Rows between two updates of the progress bar. Each update also lets the signal handlers run. */
const BATCH = 2_000;

const integer = (least: number, most: number) => (text: string) => {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new InvalidArgumentError(`It must be an integer from ${least} to ${most}.`);
};

const options = new Command("bun createdb.ts")
  .description("Writes the database that the servers read.")
  .option("--rows <n>", "rows per table", integer(1, 100_000_000), 100_000)
  .option("--seed <n>", "seed of the random values", integer(0, 2 ** 32 - 1), 1)
  .option("--contents", "write content items and users instead of data.db")
  .option("--file <path>", "file to write (default: data.db, with --contents content.db)")
  .option("--postgres [url]", "write content items and users to this empty Postgres database (default: DATABASE_URL)")
  .option("--tpcb", "write the tables of pgbench to --postgres, or to DATABASE_URL")
  .option("--scale <n>", "branches of --tpcb, each with 10 tellers and 100,000 accounts", integer(1, 20_000), 10)
  .allowExcessArguments(false)
  .parse()
  .opts<{
    rows: number;
    seed: number;
    contents?: true;
    file?: string;
    postgres?: string | true;
    tpcb?: true;
    scale: number;
  }>();

const isNamed = typeof options.postgres === "string";
const database = isNamed
  ? (options.postgres as string)
  : (options.postgres || options.tpcb) && (process.env.DATABASE_URL || DATABASE_URL);
const file = options.file ?? (options.contents ? "content.db" : "data.db");
const temporary = `${file}.${process.pid}.tmp`;
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

const randomizer = generateMersenne53Randomizer(options.seed);
const faker = new Faker({ locale: [en, base], randomizer });
const tables = options.contents || database ? contentTables() : peopleTables();
const what = database?.replace(/\/\/.*@/, "//") ?? file;
const bar = new SingleBar({ format: "{bar} {percentage}% {value}/{total} rows, {eta_formatted} left" });

try {
  if (database && options.tpcb) await makeTpcb(database);
  else if (database) await fill(database);
  else {
    refuseOther(file);
    await write(temporary);
    renameSync(temporary, file);
  }
  const made = options.tpcb ? Object.entries(rowsAt(options.scale)) : tables.map(({ name, rows }) => [name, rows]);
  const seed = options.tpcb ? "" : `, seed ${options.seed}`;
  console.log(`${what}: ${made.map(([name, rows]) => `${rows} rows in ${name}`).join(", ")}${seed}`);
} catch (cause) {
  removeTemporary();
  if (cause instanceof UsageError) exitWith(cause);
  const reason = cause instanceof Error ? cause.message : cause;
  const remedy = database ? "fix the URL" : "free some space, or choose another file with --file";
  exitWith(new UsageError(`"${what}" cannot be written (${reason}): ${remedy}`));
}

/** @throws UsageError if `file` is not a database, because it would be lost. */
function refuseOther(file: string): void {
  if (existsSync(file) && String(readBytes(file, 0, 16)) !== "SQLite format 3\0") {
    throw new UsageError(`"${file}" exists and is no SQLite database: choose another file with --file`);
  }
}

interface Table {
  readonly name: string;
  readonly ddl: string;
  readonly columns: readonly string[];
  readonly rows: number;
  /** @returns a function that makes one row. */
  readonly maker: () => () => (string | number)[];
}

function peopleTables(): Table[] {
  return Object.entries(PEOPLE).map(([name, columns]) => ({
    name,
    ddl: `CREATE TABLE ${name} (id INTEGER PRIMARY KEY, ${columns.map(({ name, type }) => `${name} ${type} NOT NULL`)})`,
    columns: columns.map((column) => column.name),
    rows: options.rows,
    maker: () => rowMaker(columns),
  }));
}

function contentTables(): Table[] {
  return SAMPLES.map(({ name, columns, most, key }, i) => ({
    name,
    ddl: MIGRATIONS.sqlite[i] as string,
    columns: [...Object.keys(key?.(randomizer, 0) ?? {}), ...columns.map((column) => column.name)],
    rows: Math.min(most, options.rows),
    maker: () => rowMaker(columns, key),
  }));
}

async function write(file: string): Promise<void> {
  const db = new BetterSqlite3(file);
  try {
    // No journal on disk and no syncs: an unfinished file is removed, and a finished one is synced once below.
    db.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN");
    if (options.contents) db.exec(`PRAGMA user_version = ${MIGRATIONS.sqlite.length}`);
    showProgress();
    for (const { name, ddl, columns, rows, maker } of tables) {
      db.exec(ddl);
      const nextRow = maker();
      const insert = db.prepare(`INSERT INTO ${name} (${columns}) VALUES (${columns.map(() => "?")})`);
      for (let row = 1; row <= rows; row++) {
        insert.run(nextRow());
        if (row % BATCH === 0 || row === rows) await told(row % BATCH || BATCH);
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

async function fill(url: string): Promise<void> {
  const [{ SQL }, { openPostgres }] = [await import("bun"), await import("./shared/stores/postgres.ts")];
  await (await openPostgres("bun:sql", { url, pool: 1, prepare: false })).close(); // creates the tables
  const sql = new SQL({ url, max: 1 });
  showProgress();
  try {
    await sql.begin(async (transaction) => {
      for (const { name, columns, rows, maker } of tables) {
        const nextRow = maker();
        for (let done = 0; done < rows; done += BATCH) {
          const batch = Array.from({ length: Math.min(BATCH, rows - done) }, () => {
            const values = nextRow();
            return Object.fromEntries(columns.map((column, i) => [column, values[i]]));
          });
          await transaction.unsafe(
            `INSERT INTO "${name}" (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::"${name}", $1::text::json)`,
            [JSON.stringify(batch)],
          );
          await told(batch.length);
        }
      }
    });
    await sql.unsafe("VACUUM ANALYZE");
  } finally {
    bar.stop();
    await sql.close();
  }
}

async function makeTpcb(url: string): Promise<void> {
  const { SQL } = await import("bun");
  const sql = new SQL({ url, max: 1 });
  try {
    await sql.unsafe(tablesAt(options.scale));
    await sql.unsafe("VACUUM ANALYZE");
  } finally {
    await sql.close();
  }
}

function showProgress(): void {
  const total = tables.reduce((sum, { rows }) => sum + rows, 0);
  if (process.stderr.isTTY) bar.start(total, 0);
}

async function told(rows: number): Promise<void> {
  bar.increment(rows);
  await setImmediate();
}

/** @returns a function that makes one row: its key, if any, then one value from the pool of each column. */
function rowMaker(columns: readonly Column[], key?: (randomizer: Randomizer, row: number) => object) {
  const pools = columns.map(({ make }) => Array.from({ length: POOL }, () => make(faker)));
  let row = 0;
  return (): (string | number)[] => [
    ...(key ? Object.values(key(randomizer, row++)) : []),
    ...pools.map((pool) => pool[Math.floor(randomizer.next() * POOL)] as string | number),
  ];
}
