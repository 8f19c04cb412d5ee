import { setTimeout as sleep } from "node:timers/promises";
import type { Connect, Value } from "../contract.ts";
import { stateOf, WAITS } from "../drivers/drivers.ts";
import { HttpError, notFound, UsageError, unavailable } from "../errors.ts";
import type { Transfer } from "./schema.ts";

type Client = ReturnType<Connect>;
type Transact = (client: Client, transfer: Transfer, isLate: () => boolean) => Promise<number>;

/** The five statements of pgbench's own script. */
const SQL = {
  account: "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2",
  balance: "SELECT abalance FROM pgbench_accounts WHERE aid = $1",
  teller: "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2",
  branch: "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2",
  history: `INSERT INTO pgbench_history (tid, bid, aid, delta, mtime, filler)
            VALUES ($1, $2, $3, $4, now(), repeat('x', 22))`,
};

/** POSTGRES_TX -> how it is asked: by seven round trips, or by one of a function that createdb.ts makes. */
const TRANSACT: Readonly<Record<string, Transact>> = {
  statements: ({ transaction }, { aid, tid, bid, delta }, isLate) =>
    transaction(async (query) => {
      const ask = async (name: keyof typeof SQL, values: Value[]) => {
        if (isLate()) throw unavailable;
        return query(`tx-${name}`, SQL[name], values);
      };
      const change = async (name: keyof typeof SQL, id: number) => {
        const { changes } = await ask(name, [delta, id]);
        if (changes === 0) throw notFound;
      };
      await change("account", aid);
      const { rows } = await ask("balance", [aid]);
      await change("teller", tid);
      await change("branch", bid);
      await ask("history", [tid, bid, aid, delta]);
      return rows[0]?.abalance as number;
    }),
  async function({ query }, { aid, tid, bid, delta }) {
    const { rows } = await query("tx", "SELECT tpcb($1, $2, $3, $4) AS abalance", [aid, tid, bid, delta]);
    return rows[0]?.abalance as number;
  },
};

/** SQLSTATE of a transaction of which nothing is left, as others were in its way. */
const UNDONE = /^40(001|P01)$/;
/** How often it is tried in all then, and the most that it waits before, each time more. */
const ATTEMPTS = 5;
const PAUSE_MS = 5;

const REMEDY = "make them with: bun createdb.ts --tpcb";
const tooLarge = new HttpError(409, "a balance would be too large");
const FAILURES: readonly [state: RegExp, error: () => Error][] = [
  [UNDONE, () => unavailable],
  [/^P0002$/, () => notFound],
  [/^22003$/, () => tooLarge],
  [/^42(P01|883)$/, () => new UsageError(`DATABASE_URL has no tables of pgbench: ${REMEDY}`)],
];

/** @param how a value of POSTGRES_TX @returns what makes one transaction in time, and gives the account's balance then */
export function transactor(client: Client, how: string): (transfer: Transfer) => Promise<number> {
  const once = TRANSACT[how] as Transact;
  const waitMs = WAITS.answer * 1e3;
  async function attempts(transfer: Transfer): Promise<number> {
    const since = performance.now();
    const isLate = () => performance.now() - since > waitMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await once(client, transfer, isLate);
      } catch (error) {
        const state = stateOf(error) ?? "";
        if (!UNDONE.test(state) || attempt === ATTEMPTS || isLate())
          throw FAILURES.find(([pattern]) => pattern.test(state))?.[1]() ?? error;
      }
      await sleep(Math.random() * attempt * PAUSE_MS);
    }
  }
  return async (transfer) => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const timer = setTimeout(reject, waitMs, unavailable);
    attempts(transfer).then(resolve, reject);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  };
}
