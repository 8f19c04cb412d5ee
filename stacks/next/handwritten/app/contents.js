/** Content items in a SQLite file that has the table already. */
import Database from "better-sqlite3";
import { ulid } from "ulid";

let opened;

/** When the first request comes, as Next runs modules when it builds as well. */
function statements() {
  if (opened) return opened;
  const db = new Database(process.env.CONTENT_FILE);
  for (const pragma of ["journal_mode = wal", "synchronous = normal", "cache_size = -16000"]) db.pragma(pragma);
  opened = {
    create: db.prepare("INSERT INTO content VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
    read: db.prepare("SELECT * FROM content WHERE id = ?"),
    update: db.prepare(
      "UPDATE content SET title = ?, body = ?, author = ?, status = ?, data = ?, updated_at = ? WHERE id = ? RETURNING *",
    ),
    remove: db.prepare("DELETE FROM content WHERE id = ?"),
    list: db.prepare("SELECT * FROM content WHERE id > ? ORDER BY id LIMIT ?"),
  };
  return opened;
}

const toContent = (row) => row && { ...row, data: JSON.parse(row.data) };

export function create({ title, body, author, status, data }) {
  const now = new Date().toISOString();
  const content = { id: ulid(), title, body, author, status, data, created_at: now, updated_at: now };
  statements().create.run(content.id, title, body, author, status, JSON.stringify(data), now, now);
  return content;
}

export const read = (id) => toContent(statements().read.get(id));

export const update = (id, { title, body, author, status, data }) =>
  toContent(statements().update.get(title, body, author, status, JSON.stringify(data), new Date().toISOString(), id));

export const remove = (id) => statements().remove.run(id).changes > 0;

export function list(after, limit) {
  const items = statements()
    .list.all(after ?? "", limit + 1)
    .map(toContent);
  return { items: items.slice(0, limit), next: items.length > limit ? items[limit - 1].id : null };
}
