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
    connectionTimeoutMillis: WAITS.answer * 1e3, // also limits the wait for a free connection of the pool
    statement_timeout: WAITS.statement * 1e3,
    query_timeout: WAITS.answer * 1e3,
  });
  clients.on("error", () => {}); // an idle connection broke: the next query opens another
  clients.on("connect", (client) => client.on("error", () => {})); // broke in a transaction, whose queries fail too
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
        // The caller does not wait for ROLLBACK: if it fails, the pool closes the connection, and Postgres rolls back.
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
