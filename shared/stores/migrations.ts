/** Opening a store applies each once, in this order. Add only at the end, because databases count them. */
export const MIGRATIONS: Readonly<Record<"sqlite" | "postgres", readonly string[]>> = {
  sqlite: [
    `CREATE TABLE content (
       id TEXT PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, author TEXT NOT NULL, status TEXT NOT NULL,
       data TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
     ) STRICT`,
    "CREATE TABLE user (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, email TEXT NOT NULL) STRICT",
  ],
  postgres: [
    `CREATE TABLE content (
       id TEXT COLLATE "C" PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, author TEXT NOT NULL,
       status TEXT NOT NULL, data TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
     )`,
    'CREATE TABLE "user" (id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL)',
  ],
};
