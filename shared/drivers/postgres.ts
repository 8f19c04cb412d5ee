import { connect as connectTo } from "node:net";
import postgres from "postgres";
import type { Connect, Query, Row } from "../contract.ts";
import { WAITS } from "./drivers.ts";
import { patient } from "./patience.ts";

interface Address {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path?: string;
}

const connect: Connect = ({ url, pool, prepare }) => {
  const queryOf =
    (sql: postgres.ISql): Query =>
    async (_, text, values) => {
      const rows = await sql.unsafe<Row[]>(text, values, { prepare });
      return { rows, changes: rows.count };
    };

  /**
   * If a connection breaks, postgres 3.4.9 may wait for ever, match the next answer to the wrong query, or write to a
   * socket that it has dropped, which ends the process (porsager/postgres#1193, #1208). So all queries of the pool fail
   * and a new pool replaces it. The old pool does not see the socket close, because it would then drop the socket.
   */
  return patient((fail) => {
    const socket = ({ host: [host], port: [port = 0], path }: Address) => {
      const socket = path ? connectTo(path) : connectTo(port, host);
      const broken = (error: Error) => {
        socket.removeAllListeners("close");
        fail(error);
      };
      const ended = () => socket.writableEnded || broken(Object.assign(new Error("ended"), { code: "ECONNRESET" }));
      return socket.once("error", broken).once("end", ended);
    };
    const options = {
      max: pool,
      prepare,
      connect_timeout: WAITS.connect,
      idle_timeout: 10,
      connection: { statement_timeout: WAITS.statement * 1e3 },
      onnotice: () => {},
      socket,
    };
    const sql = postgres(url, options);
    return {
      query: queryOf(sql),
      transaction: <T>(work: (query: Query) => Promise<T>) => sql.begin((own) => work(queryOf(own))) as Promise<T>,
      close: (atOnce) => sql.end(atOnce ? { timeout: 0 } : undefined),
    };
  });
};
export default connect;
