import { connect as connectTo } from "node:net";
import postgres from "postgres";
import type { Connect, Row } from "../contract.ts";

interface Address {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path?: string;
}

const connect: Connect = ({ url, pool, prepare }) => {
  /**
   * Where a connection breaks, postgres 3.4.9 may wait for ever, or take the next answer for that of a query it has lost
   * (porsager/postgres#1193, #1208). So all that waits for any of the pool's connections fails, and there is a new pool.
   */
  function open() {
    const waiting = new Set<(error: Error) => void>();
    const fail = (error: Error) => {
      if (current.sql === sql) current = open();
      for (const reject of waiting) reject(error);
      void sql.end({ timeout: 0 });
    };
    const socket = ({ host: [host], port: [port = 0], path }: Address) => {
      const socket = path ? connectTo(path) : connectTo(port, host);
      const ended = () => socket.writableEnded || fail(Object.assign(new Error("ended"), { code: "ECONNRESET" }));
      return socket.once("error", fail).once("end", ended);
    };
    const options = { max: pool, prepare, connect_timeout: 2, idle_timeout: 10, onnotice: () => {}, socket };
    const sql = postgres(url, options);
    return { sql, waiting };
  }
  let current = open();
  return {
    async query(_, text, values) {
      const { sql, waiting } = current;
      const { promise, resolve, reject } = Promise.withResolvers<postgres.RowList<Row[]>>();
      waiting.add(reject);
      sql.unsafe(text, [...values], { prepare }).then(resolve, reject);
      try {
        const rows = await promise;
        return { rows: [...rows], changes: rows.count };
      } finally {
        waiting.delete(reject);
      }
    },
    close: () => current.sql.end(),
  };
};
export default connect;
