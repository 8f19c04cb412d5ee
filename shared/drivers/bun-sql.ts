import { SQL } from "bun";
import type { Connect, Row } from "../contract.ts";
import { WAITS } from "./drivers.ts";
import { patience } from "./patience.ts";

const connect: Connect = ({ url, pool, prepare }) => {
  function open() {
    const connection = { statement_timeout: WAITS.statement * 1e3 };
    const sql = new SQL({ url, max: pool, prepare, connectionTimeout: WAITS.connect, connection });
    const waiting = patience(() => {
      if (current.sql === sql) current = open();
      void sql.close({ timeout: 0 });
    });
    return { sql, waiting };
  }
  let current = open();
  return {
    async query(_, text, values) {
      const { sql, waiting } = current;
      const rows: Row[] & { count?: number } = await waiting.until(sql.unsafe(text, [...values]));
      return { rows: [...rows], changes: rows.count ?? 0 };
    },
    close: () => current.sql.close(),
  };
};
export default connect;
