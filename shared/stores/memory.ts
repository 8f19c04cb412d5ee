import type { Content, User } from "../content/schema.ts";
import { conflict, type Store } from "./store.ts";

export function openMemory(): Store {
  const contents = new Map<string, Content>();
  const users: User[] = [];
  return {
    create(content) {
      if (contents.has(content.id)) throw conflict(content.id);
      contents.set(content.id, content);
    },
    read: (id) => contents.get(id),
    update(id, draft, updated_at) {
      const before = contents.get(id);
      if (before === undefined) return undefined;
      const content = { ...before, ...draft, updated_at };
      contents.set(id, content);
      return content;
    },
    remove: (id) => contents.delete(id),
    list: (after, limit) =>
      [...contents.values()]
        .filter(({ id }) => id > after)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit),
    users: (limit) => users.slice(0, limit),
    addUser(user) {
      const added = { id: users.length + 1, ...user };
      users.push(added);
      return added;
    },
    close() {},
  };
}
