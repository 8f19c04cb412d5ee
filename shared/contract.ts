/** What a handler may read of a request. Frameworks hand over their own request object where it fits. */
export interface Input {
  readonly params: Readonly<Record<string, string | undefined>>;
  /** Ends with the query, for routes that read it. */
  readonly url?: string;
  /** What its JSON says, for routes that read it. */
  readonly body?: unknown;
}

/** One endpoint. `handle` returns plain data (json) or markup (html); each framework serializes it itself. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: `/${string}`;
  readonly type: "json" | "html";
  /** Beside the parameters of the path. A body that is not JSON of at most LIMITS.bodyBytes is refused by the adapter. */
  readonly reads?: "body" | "query";
  /** Status of its answers, 200 unless given; 204 has no body. */
  readonly status?: 201 | 204;
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

/** The default export of every SQLite driver in shared/drivers/. To write, a file that is missing is made. */
export type OpenDatabase = (file: string, access: "read" | "write") => Database;

/** How a client of Postgres is to connect. */
export interface Connection {
  readonly url: string;
  /** Most connections at a time. */
  readonly pool: number;
  /** Whether statements are prepared on the server, once per connection. */
  readonly prepare: boolean;
}

/** Asks one thing. `name` is of the prepared statement. */
export type Query = (name: string, text: string, values: Value[]) => Promise<{ rows: Row[]; changes: number }>;

/** The default export of every Postgres client in shared/drivers/. */
export type Connect = (connection: Connection) => {
  readonly query: Query;
  /** Commits all that `work` asks, or nothing of it where `work` fails. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};
