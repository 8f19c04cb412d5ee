/** pgbench's transaction, directly on each Postgres client: prepared, 10 connections, the servers' time limits. */
const { DATABASE_URL: url = "", POSTGRES_CLIENT: client = process.versions.bun ? "bun:sql" : "pg" } = process.env;

const LIMITS = { statement_timeout: 5_000 };
const ANSWER_MS = 7_000;
const PG_LIMITS = { ...LIMITS, query_timeout: ANSWER_MS, connectionTimeoutMillis: ANSWER_MS };

interface Transfer {
  readonly aid: number;
  readonly tid: number;
  readonly bid: number;
  readonly delta: number;
}

async function byPg(): Promise<(transfer: Transfer) => Promise<number>> {
  const pool = new (await import("pg")).default.Pool({ connectionString: url, max: 10, ...PG_LIMITS });
  return async ({ aid, tid, bid, delta }) => {
    const connection = await pool.connect();
    const ask = (name: string, text: string, values: number[]) => connection.query({ name, text, values });
    try {
      await connection.query("BEGIN");
      await ask("account", "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2", [delta, aid]);
      const { rows } = await ask("balance", "SELECT abalance FROM pgbench_accounts WHERE aid = $1", [aid]);
      await ask("teller", "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2", [delta, tid]);
      await ask("branch", "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2", [delta, bid]);
      await ask(
        "history",
        "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime, filler) VALUES ($1, $2, $3, $4, now(), repeat('x', 22))",
        [tid, bid, aid, delta],
      );
      await connection.query("COMMIT");
      return rows[0].abalance;
    } catch (error) {
      await connection.query("ROLLBACK");
      throw error;
    } finally {
      connection.release();
    }
  };
}

/** `postgres` and Bun have no option for this limit. */
const inTime = <T>(asked: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(reject, ANSWER_MS, new Error("no answer in time"));
    asked.then(resolve, reject).then(() => clearTimeout(timer));
  });

/** `postgres` and Bun share this interface. */
async function byTemplates(): Promise<(transfer: Transfer) => Promise<number>> {
  const options = { max: 10, connection: LIMITS };
  const sql = (
    client === "postgres" ? (await import("postgres")).default(url, options) : new Bun.SQL({ url, ...options })
  ) as Bun.SQL;
  return ({ aid, tid, bid, delta }) =>
    inTime(
      sql.begin(async (sql) => {
        await sql`UPDATE pgbench_accounts SET abalance = abalance + ${delta} WHERE aid = ${aid}`;
        const [row] = await sql`SELECT abalance FROM pgbench_accounts WHERE aid = ${aid}`;
        await sql`UPDATE pgbench_tellers SET tbalance = tbalance + ${delta} WHERE tid = ${tid}`;
        await sql`UPDATE pgbench_branches SET bbalance = bbalance + ${delta} WHERE bid = ${bid}`;
        await sql`INSERT INTO pgbench_history (tid, bid, aid, delta, mtime, filler)
        VALUES (${tid}, ${bid}, ${aid}, ${delta}, now(), repeat('x', 22))`;
        return row.abalance;
      }),
    );
}

const made = url === "" ? undefined : await (client === "pg" ? byPg() : byTemplates());

export async function transact(body: unknown): Promise<{ abalance: number }> {
  if (!made) throw new Error("DATABASE_URL is not set");
  return { abalance: await made(body as Transfer) };
}
