import pg from "pg";
import type { Connect } from "../contract.ts";

const connect: Connect = ({ url, pool, prepare }) => {
  const clients = new pg.Pool({ connectionString: url, max: pool, connectionTimeoutMillis: 2_000 });
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
