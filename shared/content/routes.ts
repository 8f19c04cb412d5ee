import { ulid } from "ulid";
import type { Input, Route } from "../contract.ts";
import { HttpError, notFound } from "../errors.ts";
import { integer, queryOf, segment } from "../input.ts";
import { settle } from "../settle.ts";
import type { Store } from "../stores/store.ts";
import { type Content, isId, MAX_LIMIT, newContent, newDraft, newUser } from "./schema.ts";

/** Most items in the answer of GET /content without `limit`, and of GET /users. */
const LIMIT = 20;
const USERS = 100;

/** @param store returns the store; the first call opens it */
export function contentRoutes(store: () => Store | Promise<Store>): Route[] {
  const using = (use: (store: Store, input: Input) => unknown) => (input: Input) =>
    settle(store(), (opened) => use(opened, input));
  return [
    {
      method: "POST",
      path: "/content",
      type: "json",
      reads: "body",
      status: 201,
      handle: using((store, { body }) => {
        const { id = ulid(), title, body: text, author, status, data } = newContent(body);
        const now = new Date().toISOString();
        const content = { id, title, body: text, author, status, data, created_at: now, updated_at: now };
        return settle(store.create(content), () => content);
      }),
    },
    { method: "GET", path: "/content", type: "json", reads: "query", handle: using(list) },
    {
      method: "GET",
      path: "/content/:id",
      type: "json",
      handle: using((store, input) => settle(store.read(idOf(input)), found)),
    },
    {
      method: "PUT",
      path: "/content/:id",
      type: "json",
      reads: "body",
      handle: using((store, input) => {
        const id = idOf(input);
        return settle(store.update(id, newDraft(input.body), new Date().toISOString()), found);
      }),
    },
    {
      method: "DELETE",
      path: "/content/:id",
      type: "json",
      status: 204,
      handle: using((store, input) => settle(store.remove(idOf(input)), (removed) => found(removed || undefined))),
    },
    { method: "GET", path: "/users", type: "json", handle: using((store) => store.users(USERS)) },
    {
      method: "POST",
      path: "/users",
      type: "json",
      reads: "body",
      status: 201,
      handle: using((store, { body }) => store.addUser(newUser(body))),
    },
  ];
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw notFound;
  return value;
}

function idOf(input: Input): string {
  const id = segment(input, "id");
  if (isId(id)) return id;
  throw new HttpError(400, `id must be a ULID, not ${JSON.stringify(id)}`);
}

function list(store: Store, input: Input) {
  const query = queryOf(input);
  const limit = integer("limit", query.get("limit") ?? String(LIMIT), MAX_LIMIT);
  const after = query.get("after") ?? "";
  if (after !== "" && !isId(after)) throw new HttpError(400, `after must be a ULID, not ${JSON.stringify(after)}`);
  // One more than the limit, to know if there is a next page.
  return settle(store.list(after, limit + 1), (contents: Content[]) => {
    const items = contents.slice(0, limit);
    return { items, next: contents.length > items.length ? items.at(-1)?.id : null };
  });
}
