import Database from "better-sqlite3";

const db = new Database(process.env.DB_FILE ?? "data.db", { readonly: true });
db.pragma("cache_size = -16000");

/** Without its length given, a Response would be sent in chunks. */
function respond(body, type) {
  return new Response(body, { headers: { "content-type": type, "content-length": Buffer.byteLength(body) } });
}

export const json = (body) => respond(JSON.stringify(body), "application/json");
export const html = (body) => respond(body, "text/html; charset=utf-8");

/** @returns a loader that answers with random rows of a table */
export function randomRows(table) {
  const byId = db.prepare(`SELECT * FROM ${table} WHERE id = ?`);
  return ({ params }) =>
    json(Array.from({ length: Number(params.size) }, () => byId.get(1 + Math.floor(Math.random() * 100_000))));
}
