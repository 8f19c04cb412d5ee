import type { Connect, Value } from "../contract.ts";
import { stateOf, WAITS } from "../drivers/drivers.ts";
import { HttpError, notFound, UsageError, unavailable } from "../errors.ts";
import type { Transfer } from "./schema.ts";

type Client = ReturnType<Connect>;
type Transact = (client: Client, transfer: Transfer, isLate: () => boolean) => Promise<number>;

/** The five statements of pgbench's script tpcb-like. */
const SQL = {
  "tx-account": "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2",
  "tx-balance": "SELECT abalance FROM pgbench_accounts WHERE aid = $1",
  "tx-teller": "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2",
  "tx-branch": "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2",
  "tx-history": `INSERT INTO pgbench_history (tid, bid, aid, delta, mtime, filler)
                 VALUES ($1, $2, $3, $4, now(), repeat('x', 22))`,
};

function expectChange({ changes }: { changes: number }): void {
  if (changes === 0) throw notFound;
}

/** POSTGRES_TX -> the transaction: seven round trips, or one call of the function that createdb.ts makes. */
const TRANSACT: Readonly<Record<string, Transact>> = {
  statements: ({ transaction }, { aid, tid, bid, delta }, isLate) =>
    transaction(async (query) => {
      const ask = (name: keyof typeof SQL, values: Value[]) => {
        if (isLate()) throw unavailable;
        return query(name, SQL[name], values);
      };
      expectChange(await ask("tx-account", [delta, aid]));
      const { rows } = await ask("tx-balance", [aid]);
      expectChange(await ask("tx-teller", [delta, tid]));
      expectChange(await ask("tx-branch", [delta, bid]));
      await ask("tx-history", [tid, bid, aid, delta]);
      return rows[0]?.abalance as number;
    }),
  async function({ query }, { aid, tid, bid, delta }) {
    const { rows } = await query("tx", "SELECT tpcb($1, $2, $3, $4) AS abalance", [aid, tid, bid, delta]);
    return rows[0]?.abalance as number;
  },
};

/** SQLSTATE if Postgres rolled back because of a conflict: serialization failure or deadlock. */
const UNDONE = /^40(001|P01)$/;
/** Attempts in all; before attempt n + 1 it waits a random time of at most n × PAUSE_MS. */
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

/**
 * @param how a value of POSTGRES_TX
 * @param failureOf maps an error of the client to the one to throw
 * @returns a function that does one transaction within WAITS.answer seconds and returns the new balance of the account
 */
export function transactor(
  client: Client,
  how: string,
  failureOf: (error: unknown) => unknown,
): (transfer: Transfer) => Promise<number> {
  const once = TRANSACT[how] as Transact;
  return (transfer) =>
    new Promise((resolve, reject) => {
      let late = false;
      const isLate = () => late;
      const timer = setTimeout(() => {
        late = true;
        reject(unavailable);
      }, WAITS.answer * 1e3);
      const attempt = (number: number) => {
        once(client, transfer, isLate).then(
          (balance) => {
            clearTimeout(timer);
            resolve(balance);
          },
          (error) => {
            const state = stateOf(error) ?? "";
            if (UNDONE.test(state) && number < ATTEMPTS && !late) {
              setTimeout(attempt, Math.random() * number * PAUSE_MS, number + 1);
              return;
            }
            clearTimeout(timer);
            reject(FAILURES.find(([pattern]) => pattern.test(state))?.[1]() ?? failureOf(error));
          },
        );
      };
      attempt(1);
    });
}
