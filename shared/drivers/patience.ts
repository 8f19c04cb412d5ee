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
      for (const giveUp of waiting) giveUp(error);
    },

    /** @returns its answer. @throws where there is none in time, or the pool fails */
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
