import { SQL } from "bun";
import type { Connect, Query, Row } from "../contract.ts";
import { WAITS } from "./drivers.ts";
import { patient } from "./patience.ts";

const queryOf =
  (sql: SQL): Query =>
  async (_, text, values) => {
    const rows: Row[] & { count?: number } = await sql.unsafe(text, values);
    return { rows, changes: rows.count ?? 0 };
  };

const connect: Connect = ({ url, pool, prepare }) =>
  patient(() => {
    const connection = { statement_timeout: WAITS.statement * 1e3 };
    const sql = new SQL(url, { max: pool, prepare, connectionTimeout: WAITS.connect, connection });
    return {
      query: queryOf(sql),
      transaction: (work) => sql.begin((own) => work(queryOf(own))),
      close: (atOnce) => sql.close(atOnce ? { timeout: 0 } : undefined),
    };
  });
export default connect;
