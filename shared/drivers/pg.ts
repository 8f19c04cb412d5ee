import pg from "pg";
import type { Connect, Query } from "../contract.ts";
import { WAITS } from "./drivers.ts";

/** A pool, or one of its connections. */
interface Asked {
  query(config: pg.QueryConfig): Promise<pg.QueryResult>;
}

const connect: Connect = ({ url, pool, prepare }) => {
  const clients = new pg.Pool({
    connectionString: url,
    max: pool,
    connectionTimeoutMillis: WAITS.answer * 1e3, // it is also how long a query waits until a connection is free
    statement_timeout: WAITS.statement * 1e3,
    query_timeout: WAITS.answer * 1e3,
  });
  clients.on("error", () => {}); // of an idle connection: the next query gets another
  clients.on("connect", (client) => client.on("error", () => {})); // of one in a transaction: its queries fail as well
  const queryOf =
    (asked: Asked): Query =>
    async (name, text, values) => {
      const { rows, rowCount } = await asked.query({ ...(prepare && { name }), text, values });
      return { rows, changes: rowCount ?? 0 };
    };
  return {
    query: queryOf(clients),
    async transaction(work) {
      const client = await clients.connect();
      try {
        await client.query("BEGIN");
        const result = await work(queryOf(client));
        await client.query("COMMIT");
        client.release();
        return result;
      } catch (error) {
        // Not waited for: a connection on which it fails is closed, and Postgres undoes the same.
        client.query("ROLLBACK").then(
          () => client.release(),
          (lost) => client.release(lost),
        );
        throw error;
      }
    },
    close: () => clients.end(),
  };
};
export default connect;
