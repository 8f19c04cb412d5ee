import type { Connect } from "../contract.ts";
import { WAITS } from "./drivers.ts";

const late = () => Object.assign(new Error("no answer in time"), { code: "ETIMEDOUT" });

type Client = ReturnType<Connect>;

interface Pool extends Client {
  /** @param atOnce without waiting for what is asked */
  close(atOnce?: boolean): Promise<void>;
}

/**
 * Waits only so long for answers, for a client that has no option for it. Where a pool of connections answers nothing at all
 * in that time it is of no more use: all that waits for it fails at once, and there is a new pool.
 * @param open is given what to call where a connection breaks and the client does not notice
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

/** What waits for answers of one pool. @param leave is called where it is of no more use */
function patience(leave: () => void) {
  const waiting = new Set<(error: Error) => void>();
  let answers = 0;
  return {
    fail(error: Error): void {
      leave();
      for (const reject of waiting) reject(error);
    },

    /** @returns its answer. @throws where there is none in time, or the pool fails */
    async until<T>(asked: Promise<T>): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const before = answers;
      const timer = setTimeout(() => (answers === before ? this.fail(late()) : reject(late())), WAITS.answer * 1e3);
      waiting.add(reject);
      asked.then(
        (value) => {
          answers++;
          resolve(value);
        },
        (error) => {
          answers++;
          reject(error);
        },
      );
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        waiting.delete(reject);
      }
    },
  };
}
