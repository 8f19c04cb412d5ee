/** Rows and page of the hand-written servers; reads data.db with the runtime's default driver. */
import { readFileSync } from "node:fs";
import { Eta } from "eta";

const file = process.env.DB_FILE ?? "data.db";
const db = process.versions.bun
  ? new (await import("bun:sqlite")).Database(file, { readonly: true })
  : new (await import("better-sqlite3")).default(file, { readonly: true });
db.exec("PRAGMA cache_size = -16000");
const prepare = (sql: string) => (db as import("bun:sqlite").Database).prepare<object, [number]>(sql);
const person5 = prepare("SELECT * FROM person5 WHERE id = ?");
const person30 = prepare("SELECT * FROM person30 WHERE id = ?");

function randomRows(statement: typeof person5, size: string | undefined): object[] {
  const rows = [];
  for (let i = 0; i < Number(size); i++) rows.push(statement.get(1 + Math.floor(Math.random() * 100_000)) as object);
  return rows;
}

export const random5 = (size: string | undefined) => randomRows(person5, size);
export const random30 = (size: string | undefined) => randomRows(person30, size);

const eta = new Eta();
const hi = eta.compile(readFileSync("shared/views/hi.eta", "utf8"));
export const html = () => eta.render(hi, { name: "Ben" });
