/** Runtime -> the SQLite drivers that run on it, the default first; each has a file here. */
export const DRIVERS = {
  bun: ["bun:sqlite", "better-sqlite3", "node:sqlite"],
  node: ["better-sqlite3", "node:sqlite"],
} as const;

/** The same for clients of Postgres. */
export const CLIENTS = {
  bun: ["bun:sql", "pg", "postgres"],
  node: ["pg", "postgres"],
} as const;

export type Runtime = keyof typeof DRIVERS;

/** How long clients of Postgres wait, in seconds: each by its own options, where it has them. */
export const WAITS = {
  /** For a new connection. */
  connect: 2,
  /** For the end of a statement, after which Postgres itself gives it up. */
  statement: 5,
  /** For any answer: more, so that only a Postgres which does not answer at all is given up; less than LIMITS.idleSeconds. */
  answer: 7,
};

/** What the drivers' builds of SQLite would set differently is set here, the same for all. */
export const SQLITE_PRAGMAS = ["cache_size = -16000", "mmap_size = 0"];

/** @returns the SQLSTATE of an error (postgresql.org/docs/current/errcodes-appendix.html), where Postgres gave one. */
export function stateOf(error: unknown): string | undefined {
  const { code, errno } = error as { code?: string; errno?: unknown };
  return typeof errno === "string" ? errno : code; // bun:sql has a code of its own
}

/** @returns the default export of a driver's or client's file. */
export async function driver<T>(name: string): Promise<T> {
  return (await import(`./${name.replace(":", "-")}.ts`)).default;
}
