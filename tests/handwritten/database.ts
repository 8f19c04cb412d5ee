/** What all the hand-written servers query: the runtime's default driver, read-only. */
const file = process.env.DB_FILE ?? "data.db";
const db = process.versions.bun
  ? new (await import("bun:sqlite")).Database(file, { readonly: true })
  : new (await import("better-sqlite3")).default(file, { readonly: true });
db.exec("PRAGMA cache_size = -16000");

export const byId = (db as import("bun:sqlite").Database).prepare<object, [number]>(
  "SELECT * FROM person5 WHERE id = ?",
);
export const randomId = () => 1 + Math.floor(Math.random() * 100_000);
