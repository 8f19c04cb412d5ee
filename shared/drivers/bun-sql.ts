import { SQL } from "bun";
import type { Connect, Row } from "../contract.ts";

const connect: Connect = ({ url, pool, prepare }) => {
  const sql = new SQL({ url, max: pool, prepare, connectionTimeout: 2 });
  return {
    async query(_, text, values) {
      const rows: Row[] & { count?: number } = await sql.unsafe(text, [...values]);
      return { rows: [...rows], changes: rows.count ?? 0 };
    },
    close: () => sql.close(),
  };
};
export default connect;
