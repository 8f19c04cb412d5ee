import { WAITS } from "./drivers.ts";

const late = () => Object.assign(new Error("no answer in time"), { code: "ETIMEDOUT" });

/**
 * What waits for answers of one pool of connections, for a client that has no option for how long. Where nothing at all was
 * answered in that time the pool is of no more use, and all that waits for it fails at once.
 * @param leave is called then
 */
export function patience(leave: () => void) {
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
