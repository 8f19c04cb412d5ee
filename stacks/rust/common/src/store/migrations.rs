//! Each is applied once, in this order, as shared/stores/migrations.ts has them.

pub const SQLITE: [&str; 2] = [
    "CREATE TABLE content (
       id TEXT PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, author TEXT NOT NULL, status TEXT NOT NULL,
       data TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
     ) STRICT",
    "CREATE TABLE user (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, email TEXT NOT NULL) STRICT",
];

pub const POSTGRES: [&str; 2] = [
    r#"CREATE TABLE content (
         id TEXT COLLATE "C" PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, author TEXT NOT NULL,
         status TEXT NOT NULL, data TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
       )"#,
    r#"CREATE TABLE "user" (id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL)"#,
];
