import type { Content, Draft, NewUser, User } from "../content/schema.ts";
import { HttpError } from "../errors.ts";
import type { Transfer } from "../tpcb/schema.ts";

/**
 * Stores content items and users. When a call returns or resolves, its write is as durable as the settings of the store
 * make it. Calls throw {@link conflict}, {@link unavailable} or {@link full}.
 */
export interface Store {
  /** @throws conflict if the id exists */
  create(content: Content): void | Promise<void>;
  read(id: string): Content | undefined | Promise<Content | undefined>;
  /** @returns the changed content; undefined if the id does not exist */
  update(id: string, draft: Draft, updatedAt: string): Content | undefined | Promise<Content | undefined>;
  /** @returns false if the id does not exist */
  remove(id: string): boolean | Promise<boolean>;
  /** @returns the items with the lowest ids greater than `after`, in order of id */
  list(after: string, limit: number): Content[] | Promise<Content[]>;
  /** @returns the users with the lowest ids, in order */
  users(limit: number): User[] | Promise<User[]>;
  addUser(user: NewUser): User | Promise<User>;
  /** pgbench's transaction; Postgres only. @returns the new balance of the account */
  transact?(transfer: Transfer): Promise<number>;
  close(): void | Promise<void>;
}

export const conflict = (id: string) => new HttpError(409, `there is a content ${id} already`);
export const full = () => new HttpError(507, "the store is full");

/** For SQLite and Postgres; `data` is JSON text. */
export const SQL = {
  create: "INSERT INTO content VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  read: "SELECT * FROM content WHERE id = ?",
  update: `UPDATE content SET title = ?, body = ?, author = ?, status = ?, data = ?, updated_at = ? WHERE id = ?
           RETURNING *`,
  remove: "DELETE FROM content WHERE id = ?",
  list: "SELECT * FROM content WHERE id > ? ORDER BY id LIMIT ?",
  users: 'SELECT id, name, email FROM "user" ORDER BY id LIMIT ?',
  addUser: 'INSERT INTO "user" (name, email) VALUES (?, ?) RETURNING id, name, email',
};

export const toContent = (row: unknown): Content => ({
  ...(row as Content),
  data: JSON.parse((row as { data: string }).data),
});

/** The parameters of SQL.create. */
export const fromContent = (content: Content) => [
  content.id,
  content.title,
  content.body,
  content.author,
  content.status,
  JSON.stringify(content.data),
  content.created_at,
  content.updated_at,
];

/** The parameters of SQL.update. */
export const fromDraft = (id: string, draft: Draft, updatedAt: string) => [
  draft.title,
  draft.body,
  draft.author,
  draft.status,
  JSON.stringify(draft.data),
  updatedAt,
  id,
];
