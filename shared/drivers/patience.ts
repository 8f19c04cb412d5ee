import type { Connect } from "../contract.ts";
import { WAITS } from "./drivers.ts";

const late = () => Object.assign(new Error("no answer in time"), { code: "ETIMEDOUT" });

type Client = ReturnType<Connect>;

interface Pool extends Client {
  /** @param atOnce do not wait for queries in flight */
  close(atOnce?: boolean): Promise<void>;
}

/**
 * A limit of WAITS.answer seconds per query or transaction, for clients without such an option. If the pool answers no
 * query at all within the limit, every waiting query fails and a new pool replaces it.
 * @param open opens a pool; the pool calls `fail` if a connection breaks and the client does not notice
 */
export function patient(open: (fail: (error: Error) => void) => Pool): Client {
  function opened() {
    const waiting = patience(() => {
      if (current.pool === pool) current = opened();
      void pool.close(true);
    });
    const pool = open((error) => waiting.fail(error));
    return { pool, waiting };
  }
  let current = opened();
  return {
    query(...asked) {
      const { pool, waiting } = current;
      return waiting.until(pool.query(...asked));
    },
    transaction(work) {
      const { pool, waiting } = current;
      return waiting.until(pool.transaction(work));
    },
    close: () => current.pool.close(),
  };
}

/** The queries that wait for one pool. @param leave replaces the pool */
function patience(leave: () => void) {
  const waiting = new Set<(error: Error) => void>();
  let answers = 0;
  return {
    fail(error: Error): void {
      leave();
      for (const giveUp of waiting) giveUp(error);
    },

    /** @throws if there is no answer in time, or the pool fails */
    until<T>(asked: Promise<T>): Promise<T> {
      return new Promise((resolve, reject) => {
        const before = answers;
        const end = () => {
          clearTimeout(timer);
          waiting.delete(giveUp);
        };
        const giveUp = (error: Error) => {
          end();
          reject(error);
        };
        const timer = setTimeout(() => (answers === before ? this.fail(late()) : giveUp(late())), WAITS.answer * 1e3);
        waiting.add(giveUp);
        asked.then(resolve, reject).then(() => {
          answers++;
          end();
        });
      });
    },
  };
}
