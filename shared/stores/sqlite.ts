import type { SqliteConfig } from "../config.ts";
import type { Content, User } from "../content/schema.ts";
import type { Database, OpenDatabase } from "../contract.ts";
import { driver as load, SQLITE_PRAGMAS } from "../drivers/drivers.ts";
import { UsageError, unavailable } from "../errors.ts";
import { MIGRATIONS } from "./migrations.ts";
import { conflict, fromContent, fromDraft, full, SQL, type Store, toContent } from "./store.ts";

/** Longest wait until another process has finished its write. */
const BUSY_MS = 5_000;

/** @throws UsageError if the file cannot be written. */
export async function openSqlite(driver: string, { file, journal, synchronous }: SqliteConfig): Promise<Store> {
  const open = await load<OpenDatabase>(driver);
  let db: Database | undefined;
  try {
    db = open(file, "write");
    const pragmas = [`busy_timeout = ${BUSY_MS}`, `journal_mode = ${journal}`, `synchronous = ${synchronous}`];
    for (const pragma of [...pragmas, ...SQLITE_PRAGMAS]) db.exec(`PRAGMA ${pragma}`);
    migrate(db);
    return storeOf(db);
  } catch (cause) {
    db?.close();
    const reason = cause instanceof Error ? cause.message : cause;
    throw new UsageError(`CONTENT_FILE "${file}" cannot be written (${reason}): set it to a file that can`);
  }
}

function migrate(db: Database): void {
  const applied = () => (db.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
  if (applied() === MIGRATIONS.sqlite.length) return;
  db.exec("BEGIN IMMEDIATE");
  for (const migration of MIGRATIONS.sqlite.slice(applied())) db.exec(migration);
  db.exec(`PRAGMA user_version = ${MIGRATIONS.sqlite.length}`);
  db.exec("COMMIT");
}

function storeOf(db: Database): Store {
  const prepared = Object.entries(SQL).map(([name, sql]) => [name, db.prepare(sql)]);
  const { create, read, update, remove, list, users, addUser } = Object.fromEntries(prepared) as Statements;
  return {
    create(content) {
      attempt(content.id, () => create.run(...fromContent(content)));
    },
    read: (id) => attempt(id, () => one(read.get(id))),
    // Not `get`, because it stops after the first row, and better-sqlite3 then does not report a failed commit.
    update: (id, draft, updatedAt) => attempt(id, () => one(update.all(...fromDraft(id, draft, updatedAt))[0])),
    remove: (id) => attempt(id, () => Number(remove.run(id).changes) > 0),
    list: (after, limit) => attempt(after, () => list.all(after, limit).map(toContent)),
    users: (limit) => attempt("", () => users.all(limit) as User[]),
    // A copy, because rows of node:sqlite have no prototype, and Elysia on Node sends such an object as text.
    addUser: ({ name, email }) => attempt("", () => ({ ...(addUser.all(name, email)[0] as User) })),
    close: () => db.close(),
  };
}

type Statements = Record<keyof typeof SQL, ReturnType<Database["prepare"]>>;

/** If there is no row, drivers return undefined or null. */
const one = (row: unknown): Content | undefined => (row ? toContent(row) : undefined);

/** Primary result codes (sqlite.org/rescode.html): node:sqlite gives the number, the other drivers the name. */
const FAILURES: readonly [code: number, name: RegExp, error: (id: string) => Error][] = [
  [19, /^SQLITE_CONSTRAINT/, conflict],
  [5, /^SQLITE_BUSY/, () => unavailable],
  [10, /^SQLITE_IOERR/, () => unavailable],
  [13, /^SQLITE_FULL/, full],
];

function attempt<T>(id: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    const { code, errcode } = error as { code?: string; errcode?: number };
    const failure = FAILURES.find(([number, name]) => (errcode ?? 0) % 256 === number || name.test(code ?? ""));
    throw failure ? failure[2](id) : error;
  }
}
