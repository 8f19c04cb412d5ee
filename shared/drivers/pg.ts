import pg from "pg";
import type { Connect } from "../contract.ts";
import { WAITS } from "./drivers.ts";

const connect: Connect = ({ url, pool, prepare }) => {
  const clients = new pg.Pool({
    connectionString: url,
    max: pool,
    connectionTimeoutMillis: WAITS.answer * 1e3, // it is also how long a query waits until a connection is free
    statement_timeout: WAITS.statement * 1e3,
    query_timeout: WAITS.answer * 1e3,
  });
  clients.on("error", () => {}); // of an idle connection: the next query gets another
  return {
    async query(name, text, values) {
      const { rows, rowCount } = await clients.query({ ...(prepare && { name }), text, values: [...values] });
      return { rows, changes: rowCount ?? 0 };
    },
    close: () => clients.end(),
  };
};
export default connect;
