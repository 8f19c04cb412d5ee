/** Content items of the hand-written servers: in the SQLite file CONTENT_FILE, with the runtime's default driver. */
import { ulid } from "ulid";

interface Draft {
  readonly title: string;
  readonly body: string;
  readonly author: string;
  readonly status: string;
  readonly data: unknown;
}
interface Row extends Omit<Draft, "data"> {
  readonly id: string;
  readonly data: string;
}

const file = process.env.CONTENT_FILE ?? ":memory:";
const db = (
  process.versions.bun
    ? new (await import("bun:sqlite")).Database(file)
    : new (await import("better-sqlite3")).default(file)
) as import("bun:sqlite").Database;
db.exec(
  "PRAGMA journal_mode = wal; PRAGMA synchronous = normal; PRAGMA busy_timeout = 5000; PRAGMA cache_size = -16000",
);
db.exec(
  "CREATE TABLE IF NOT EXISTS content (id TEXT PRIMARY KEY, title, body, author, status, data, created_at, updated_at)",
);
const insert = db.prepare("INSERT INTO content VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
const select = db.prepare<Row, [string]>("SELECT * FROM content WHERE id = ?");
const change = db.prepare<Row, string[]>(
  "UPDATE content SET title = ?, body = ?, author = ?, status = ?, data = ?, updated_at = ? WHERE id = ? RETURNING *",
);
const erase = db.prepare("DELETE FROM content WHERE id = ?");
const page = db.prepare<Row, [string, number]>("SELECT * FROM content WHERE id > ? ORDER BY id LIMIT ?");

const toContent = (row: Row) => ({ ...row, data: JSON.parse(row.data) });
const found = (row: Row | null | undefined) => (row ? toContent(row) : undefined);

export function create(draft: unknown) {
  const { title, body, author, status, data } = draft as Draft;
  const now = new Date().toISOString();
  const content = { id: ulid(), title, body, author, status, data, created_at: now, updated_at: now };
  insert.run(content.id, title, body, author, status, JSON.stringify(data), now, now);
  return content;
}

export const read = (id: string) => found(select.get(id));

export function update(id: string, draft: unknown) {
  const { title, body, author, status, data } = draft as Draft;
  return found(change.get(title, body, author, status, JSON.stringify(data), new Date().toISOString(), id));
}

export const remove = (id: string) => erase.run(id).changes > 0;

export function list(after: string | null | undefined, limit: unknown) {
  const most = Number(limit ?? 20);
  const items = page.all(after ?? "", most + 1).map(toContent);
  return { items: items.slice(0, most), next: items.length > most ? items[most - 1]?.id : null };
}
