import { existsSync } from "node:fs";
import type { Database, OpenDatabase, Row } from "../contract.ts";
import { driver as load, SQLITE_PRAGMAS } from "../drivers/drivers.ts";
import { UsageError } from "../errors.ts";
import type { Table } from "../people.ts";

export const PRAGMAS = [...SQLITE_PRAGMAS, "query_only = 1"];

/** A read-only view of data.db. */
export interface People {
  readonly sqliteVersion: string;
  /** Runs one query per row, each with a uniformly random id. */
  randomRows(table: Table, size: number): Row[];
  close(): void;
}

/** @throws UsageError if the file is missing or not one that createdb.ts writes. */
export async function openPeople(driver: string, file: string): Promise<People> {
  if (!existsSync(file)) throw new UsageError(`no database at "${file}": make it with: bun createdb.ts --file ${file}`);
  const open = await load<OpenDatabase>(driver);
  try {
    return prepare(open(file, "read"));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : cause;
    throw new UsageError(`"${file}" cannot be used (${reason}): make it again with: bun createdb.ts --file ${file}`);
  }
}

/** Sets the pragmas and prepares every statement once. */
export function prepare(db: Database): People {
  for (const pragma of PRAGMAS) db.exec(`PRAGMA ${pragma}`);
  const pickers: Record<Table, () => Row> = { person5: picker(db, "person5"), person30: picker(db, "person30") };
  const { version } = db.prepare("SELECT sqlite_version() AS version").get() as { version: string };
  return {
    sqliteVersion: version,
    randomRows(table, size) {
      const pick = pickers[table];
      const rows: Row[] = [];
      for (let i = 0; i < size; i++) rows.push(pick());
      return rows;
    },
    close: () => db.close(),
  };
}

/** @returns a function that queries one row by a random primary key. */
function picker(db: Database, table: Table): () => Row {
  const { first, last, rows } = db
    .prepare(`SELECT min(id) AS first, max(id) AS last, count(*) AS rows FROM ${table}`)
    .get() as { first: number; last: number; rows: number };
  if (rows === 0 || last - first + 1 !== rows) throw new Error(`${table} is empty or has gaps between its ids`);
  const byId = db.prepare(`SELECT * FROM ${table} WHERE id = ?`);
  return () => {
    const id = first + Math.floor(Math.random() * rows);
    const row = byId.get(id);
    if (!row) throw new Error(`${table} has lost its row ${id}`);
    return row as Row;
  };
}
