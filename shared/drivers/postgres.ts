import postgres from "postgres";
import type { Connect } from "../contract.ts";

const connect: Connect = ({ url, pool, prepare }) => {
  const sql = postgres(url, { max: pool, prepare, connect_timeout: 2, backoff: () => 0.1, onnotice: () => {} });
  return {
    async query(_, text, values) {
      const rows = await sql.unsafe(text, [...values], { prepare });
      return { rows: [...rows], changes: rows.count };
    },
    close: () => sql.end(),
  };
};
export default connect;
