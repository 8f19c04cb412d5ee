import type { User } from "../content/schema.ts";
import type { Connect, Connection, Row, Value } from "../contract.ts";
import { driver } from "../drivers/drivers.ts";
import { UsageError, unavailable } from "../errors.ts";
import { transactor } from "../tpcb/transact.ts";
import { MIGRATIONS } from "./migrations.ts";
import { conflict, fromContent, fromDraft, full, SQL, type Store, toContent } from "./store.ts";

type Client = ReturnType<Connect>;

/** Key of the advisory lock that lets one process at a time migrate; any number that no other program uses. */
const LOCK = 7_307;

/** @param tx a value of POSTGRES_TX @throws UsageError if the database cannot be reached or written */
export async function openPostgres(client: string, connection: Connection, tx = "statements"): Promise<Store> {
  const connect = await driver<Connect>(client);
  try {
    const migrating = connect({ ...connection, pool: 1 });
    try {
      await migrate(migrating);
    } finally {
      await migrating.close();
    }
    return storeOf(connect(connection), tx);
  } catch (cause) {
    const { code, message } = cause as { code?: string; message: string };
    const url = connection.url.replace(/\/\/.*@/, "//");
    throw new UsageError(`${url} cannot be used (${message || code}): start Postgres, or fix DATABASE_URL`);
  }
}

/** One transaction, so that a failure changes nothing, and the lock ends even if a pooler keeps the session. */
const migrate = ({ transaction }: Client): Promise<void> =>
  transaction(async (query) => {
    await query("isolation", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED", []); // sees other processes' commits
    await query("lock", `SELECT pg_advisory_xact_lock(${LOCK})::text`, []);
    await query("table", "CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY)", []);
    const { rows } = await query("applied", "SELECT count(*)::int AS applied FROM migration", []);
    for (const [i, sql] of MIGRATIONS.postgres.entries()) {
      if (i < Number(rows[0]?.applied)) continue;
      await query(`migration${i}`, `DO $$ BEGIN ${sql}; INSERT INTO migration VALUES (${i}); END $$`, []);
    }
  });

function storeOf(client: Client, tx: string): Store {
  const ask = async (statement: keyof typeof SQL, values: Value[], id = "") => {
    try {
      return await client.query(statement, NUMBERED[statement], values);
    } catch (error) {
      throw failureOf(error, id);
    }
  };
  const one = ([row]: Row[]) => row && toContent(row);
  return {
    create: async (content) => void (await ask("create", fromContent(content), content.id)),
    read: async (id) => one((await ask("read", [id])).rows),
    update: async (id, draft, updatedAt) => one((await ask("update", fromDraft(id, draft, updatedAt))).rows),
    remove: async (id) => (await ask("remove", [id])).changes > 0,
    list: async (after, limit) => (await ask("list", [after, limit])).rows.map(toContent),
    users: async (limit) => (await ask("users", [limit])).rows as unknown as User[],
    addUser: async ({ name, email }) => (await ask("addUser", [name, email])).rows[0] as unknown as User,
    transact: transactor(client, tx, failureOf),
    close: () => client.close(),
  };
}

/** `?` -> `$1`, `$2`, … */
const NUMBERED = Object.fromEntries(
  Object.entries(SQL).map(([name, sql]) => {
    let parameters = 0;
    return [name, sql.replace(/\?/g, () => `$${++parameters}`)];
  }),
) as typeof SQL;

/** SQLSTATE (postgresql.org/docs/current/errcodes-appendix.html), or the code for a lost connection. */
const FAILURES: readonly [code: RegExp, error: (id: string) => Error][] = [
  [/^23505$/, conflict],
  [/^53100$/, full],
  [/^(08|53|57014|57P0)/, () => unavailable],
  [/^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/, () => unavailable],
  [/^(CONNECT|ERR_POSTGRES_CONNECTION|Connection terminated)/, () => unavailable],
  [/^(timeout exceeded|Query read timeout|Client has encountered a connection error)/, () => unavailable],
];

function failureOf(error: unknown, id = ""): unknown {
  const { code, errno, message } = error as { code?: string; errno?: string; message: string };
  const said = [errno, code, message].map(String);
  const failure = FAILURES.find(([pattern]) => said.some((text) => pattern.test(text)));
  return failure ? failure[1](id) : error;
}
