/** The part of a request that a handler reads. Adapters pass the framework's request object if it has these fields. */
export interface Input {
  readonly params: Readonly<Record<string, string | undefined>>;
  /** URL, or path with query; set if the route reads "query". */
  readonly url?: string;
  /** Parsed JSON; set if the route reads "body". */
  readonly body?: unknown;
}

/** One endpoint. `handle` returns data (json) or markup (html); the framework serializes it. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: `/${string}`;
  readonly type: "json" | "html";
  /** `handle` also reads this. The adapter refuses a body that is not JSON, or larger than LIMITS.bodyBytes. */
  readonly reads?: "body" | "query";
  /** Default 200; 204 has no body. */
  readonly status?: 201 | 204;
  handle(input: Input): unknown | Promise<unknown>;
}

/** Where to listen. With `reusePort`, several processes share the port (SO_REUSEPORT). */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly reusePort: boolean;
}

/** A listening server. `close` stops accepting, finishes the requests in flight, then resolves. */
export interface Running {
  close(): Promise<void>;
}

/** The default export of every adapter in servers/. */
export interface ServerModule {
  listen(routes: readonly Route[], at: Address): Promise<Running>;
}

/** One row of a table: column name -> value. */
export type Row = Record<string, unknown>;

export type Value = string | number | null;

/** The part of SQLite that all three drivers offer under the same names. */
export interface Database {
  exec(sql: string): unknown;
  prepare(sql: string): {
    get(...params: Value[]): unknown;
    all(...params: Value[]): unknown[];
    run(...params: Value[]): { changes: number | bigint };
  };
  close(): void;
}

/** The default export of every SQLite driver in shared/drivers/. "write" creates a missing file. */
export type OpenDatabase = (file: string, access: "read" | "write") => Database;

export interface Connection {
  readonly url: string;
  /** Most connections open at once. */
  readonly pool: number;
  /** Prepare each statement once per connection. */
  readonly prepare: boolean;
}

/** Runs one statement. @param name of the prepared statement */
export type Query = (name: string, text: string, values: Value[]) => Promise<{ rows: Row[]; changes: number }>;

/** The default export of every Postgres client in shared/drivers/. */
export type Connect = (connection: Connection) => {
  readonly query: Query;
  /** Commits all statements of `work`; if `work` throws, rolls them back. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};
