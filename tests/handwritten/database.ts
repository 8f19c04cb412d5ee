/** What all the hand-written servers open: the runtime's default driver, read-only. */
const file = process.env.DB_FILE ?? "data.db";
export const db = process.versions.bun
  ? new (await import("bun:sqlite")).Database(file, { readonly: true })
  : new (await import("better-sqlite3")).default(file, { readonly: true });
db.exec("PRAGMA cache_size = -16000");
