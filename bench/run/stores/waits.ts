/** What the connections of a Postgres wait for under load. */
import { SQL } from "bun";

/** Means over all samples; for deadlocks the number during the whole watch. */
export type Waits = Readonly<Record<"lockWaiters" | "idleInTransaction" | "deadlocks", number>>;

/** One sample takes Postgres about 0.3 ms, which count as its CPU time. */
const LOOK_EVERY_MS = 100;

/** See postgresql.org/docs/current/monitoring-stats.html: pg_stat_activity, pg_stat_database. */
const LOOK = `
  SELECT count(*) FILTER (WHERE wait_event_type = 'Lock')::int AS "lockWaiters",
         count(*) FILTER (WHERE state LIKE 'idle in transaction%')::int AS "idleInTransaction"
  FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
const DEADLOCKS = "SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()";

/** Samples again and again, over its own connection. @param url of the database @returns a function that ends this */
export async function watchWaits(url: string): Promise<() => Promise<Waits | null>> {
  const sql = new SQL({ url, max: 1 });
  const looks: Omit<Waits, "deadlocks">[] = [];
  const deadlocks = async () => Number((await sql.unsafe(DEADLOCKS))[0].deadlocks);
  const before = await deadlocks();
  let going = true;
  const ended = (async () => {
    while (going) {
      looks.push(...(await sql.unsafe(LOOK)));
      await Bun.sleep(LOOK_EVERY_MS);
    }
  })();
  ended.catch(() => {}); // handled when the watch ends
  const mean = (of: (look: (typeof looks)[0]) => number) =>
    looks.reduce((sum, look) => sum + of(look), 0) / looks.length;
  return async () => {
    going = false;
    try {
      await ended;
      return {
        lockWaiters: mean((look) => look.lockWaiters),
        idleInTransaction: mean((look) => look.idleInTransaction),
        deadlocks: (await deadlocks()) - before,
      };
    } catch {
      return null; // the database has ended: the slice shows the errors
    } finally {
      await sql.close();
    }
  };
}
