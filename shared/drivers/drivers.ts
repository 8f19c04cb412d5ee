/** Runtime -> its SQLite drivers, the default first. Each name is a file in this folder. */
export const DRIVERS = {
  bun: ["bun:sqlite", "better-sqlite3", "node:sqlite"],
  node: ["better-sqlite3", "node:sqlite"],
} as const;

/** Runtime -> its Postgres clients, the default first. */
export const CLIENTS = {
  bun: ["bun:sql", "pg", "postgres"],
  node: ["pg", "postgres"],
} as const;

export type Runtime = keyof typeof DRIVERS;

/** Time limits of Postgres clients in seconds, set by the client's own option if it has one. */
export const WAITS = {
  /** Opening a connection. */
  connect: 2,
  /** One statement; Postgres cancels it after that. */
  statement: 5,
  /** Any answer. Above `statement`, so that Postgres cancels slow statements first. Below LIMITS.idleSeconds. */
  answer: 7,
};

/** Settings that differ between the drivers' builds of SQLite. */
export const SQLITE_PRAGMAS = ["cache_size = -16000", "mmap_size = 0"];

/** @returns the SQLSTATE of an error (postgresql.org/docs/current/errcodes-appendix.html), if Postgres sent one. */
export function stateOf(error: unknown): string | undefined {
  const { code, errno } = error as { code?: string; errno?: unknown };
  return typeof errno === "string" ? errno : code; // bun:sql has the SQLSTATE in errno
}

export async function driver<T>(name: string): Promise<T> {
  return (await import(`./${name.replace(":", "-")}.ts`)).default;
}
