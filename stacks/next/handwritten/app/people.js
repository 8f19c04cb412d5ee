/** The same routes as Next's documentation has them: what `./bench.sh tax` compares the server with. */
import Database from "better-sqlite3";

let statements;

/** When the first request comes, as Next runs modules when it builds as well. */
function open() {
  const db = new Database(process.env.DB_FILE ?? "data.db", { readonly: true });
  db.pragma("cache_size = -16000");
  return {
    person5: db.prepare("SELECT * FROM person5 WHERE id = ?"),
    person30: db.prepare("SELECT * FROM person30 WHERE id = ?"),
  };
}

/** @returns `size` rows of a table */
export function randomRows(table, size) {
  statements ??= open();
  return Array.from({ length: Number(size) }, () => statements[table].get(1 + Math.floor(Math.random() * 100_000)));
}
