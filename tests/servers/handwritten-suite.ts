/** The requests of bench/load/sequence.js, and of the check before a measurement, to a hand-written server. */
import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { join } from "node:path";
import { MIGRATIONS } from "../../shared/stores/migrations.ts";
import { scratch } from "../harness.ts";

/** @returns a file with the tables and no rows */
export function emptyContents(): string {
  const file = join(scratch(), "content.db");
  const db = new Database(file);
  for (const migration of MIGRATIONS.sqlite) db.run(migration);
  db.close();
  return file;
}

export async function expectContent(url: string): Promise<void> {
  const contents = `${url}/content`;
  const send = (method: string, path: string, body?: unknown) =>
    fetch(path, {
      method,
      ...(body !== undefined && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
  const data = { sequence: 1, tags: ["load", "é"], nested: { ratio: 0.5, none: null } };
  const draft = { title: "Draft", body: "fox", author: "a", status: "draft", data };
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const kept = { ...draft, id: expect.any(String), created_at: time, updated_at: time };

  const created = await send("POST", contents, draft);
  const content = (await created.json()) as { id: string; created_at: string };
  expect([created.status, content]).toEqual([201, kept]);
  const { id, created_at } = content;
  const path = `${contents}/${id}`;
  expect((await (await send("GET", path)).json()) as object).toEqual(content);

  const final = { ...draft, title: "Final", status: "published" };
  const updated = await send("PUT", path, final);
  const changed = (await updated.json()) as object;
  expect([updated.status, changed]).toEqual([200, { ...kept, ...final, id, created_at }]);
  expect((await (await send("GET", path)).json()) as object).toEqual(changed);

  const second = (await (await send("POST", contents, draft)).json()) as { id: string };
  const page = async (query: string) => (await (await send("GET", `${contents}?${query}`)).json()) as object;
  const ids = [id, second.id].sort();
  expect(await page("limit=1")).toMatchObject({ items: [{ id: ids[0] }], next: ids[0] });
  expect(await page(`limit=1&after=${ids[0]}`)).toMatchObject({ items: [{ id: ids[1] }], next: null });

  expect((await send("DELETE", path)).status).toBe(204);
  for (const method of ["GET", "DELETE"]) expect([method, (await send(method, path)).status]).toEqual([method, 404]);
  expect((await send("PUT", path, final)).status).toBe(404);
}
