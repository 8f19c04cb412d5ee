import { SQL } from "bun";
import type { Connect, Query, Row } from "../contract.ts";
import { WAITS } from "./drivers.ts";
import { patience } from "./patience.ts";

const queryOf =
  (sql: SQL): Query =>
  async (_, text, values) => {
    const rows: Row[] & { count?: number } = await sql.unsafe(text, [...values]);
    return { rows: [...rows], changes: rows.count ?? 0 };
  };

const connect: Connect = ({ url, pool, prepare }) => {
  function open() {
    const connection = { statement_timeout: WAITS.statement * 1e3 };
    const sql = new SQL({ url, max: pool, prepare, connectionTimeout: WAITS.connect, connection });
    const waiting = patience(() => {
      if (current.sql === sql) current = open();
      void sql.close({ timeout: 0 });
    });
    return { sql, waiting, query: queryOf(sql) };
  }
  let current = open();
  return {
    query(...asked) {
      const { waiting, query } = current;
      return waiting.until(query(...asked));
    },
    transaction<T>(work: (query: Query) => Promise<T>) {
      const { waiting, sql } = current;
      return waiting.until(sql.begin((own) => work(queryOf(own))) as Promise<T>);
    },
    close: () => current.sql.close(),
  };
};
export default connect;
