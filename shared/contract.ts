/** What a handler may read of a request. Frameworks hand over their own request object where it fits. */
export interface Input {
  readonly params: Readonly<Record<string, string | undefined>>;
}

/** One endpoint. `handle` returns plain data (json) or markup (html); each framework serializes it itself. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: `/${string}`;
  readonly type: "json" | "html";
  handle(input: Input): unknown | Promise<unknown>;
}

/** Where to listen. With `reusePort` several processes share the port by SO_REUSEPORT. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly reusePort: boolean;
}

/** A listening server. `close` stops accepting, answers what is in flight and resolves when all is sent. */
export interface Running {
  close(): Promise<void>;
}

/** The default export of every file in servers/ that adapts a framework. */
export interface ServerModule {
  listen(routes: readonly Route[], at: Address): Promise<Running>;
}

/** One row of a table: column name -> value. */
export type Row = Record<string, unknown>;

/** The part of SQLite that all three drivers offer under the same names. */
export interface Database {
  exec(sql: string): unknown;
  prepare(sql: string): { get(...params: number[]): unknown };
  close(): void;
}

/** The default export of every file in shared/stores/ that is named after a driver: opens `file` read-only. */
export type OpenDatabase = (file: string) => Database;
