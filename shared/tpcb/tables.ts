/** Rows per branch; the scale is the number of branches. */
const TELLERS = 10;
const ACCOUNTS = 100_000;

export const rowsAt = (scale: number) => ({
  pgbench_branches: scale,
  pgbench_tellers: TELLERS * scale,
  pgbench_accounts: ACCOUNTS * scale,
});

/** Replaces the tables with those of `pgbench -i`. The function `tpcb` runs the whole transaction in one round trip. */
export const tablesAt = (scale: number): string => `
  DROP TABLE IF EXISTS pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers;
  CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
  CREATE TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, filler char(84)) WITH (fillfactor = 100);
  CREATE TABLE pgbench_accounts (aid int NOT NULL, bid int, abalance int, filler char(84)) WITH (fillfactor = 100);
  CREATE TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler char(88)) WITH (fillfactor = 100);
  INSERT INTO pgbench_branches (bid, bbalance) SELECT bid, 0 FROM generate_series(1, ${scale}) AS bid;
  INSERT INTO pgbench_tellers (tid, bid, tbalance)
    SELECT tid, (tid - 1) / ${TELLERS} + 1, 0 FROM generate_series(1, ${TELLERS * scale}) AS tid;
  INSERT INTO pgbench_accounts (aid, bid, abalance, filler)
    SELECT aid, (aid - 1) / ${ACCOUNTS} + 1, 0, '' FROM generate_series(1, ${ACCOUNTS * scale}) AS aid;
  ALTER TABLE pgbench_branches ADD PRIMARY KEY (bid);
  ALTER TABLE pgbench_tellers ADD PRIMARY KEY (tid);
  ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid);
  CREATE OR REPLACE FUNCTION tpcb(int, int, int, int) RETURNS int LANGUAGE plpgsql AS $$
    DECLARE
      balance int;
    BEGIN
      UPDATE pgbench_accounts SET abalance = abalance + $4 WHERE aid = $1;
      SELECT abalance INTO STRICT balance FROM pgbench_accounts WHERE aid = $1;
      UPDATE pgbench_tellers SET tbalance = tbalance + $4 WHERE tid = $2;
      IF NOT FOUND THEN RAISE no_data_found; END IF;
      UPDATE pgbench_branches SET bbalance = bbalance + $4 WHERE bid = $3;
      IF NOT FOUND THEN RAISE no_data_found; END IF;
      INSERT INTO pgbench_history (tid, bid, aid, delta, mtime, filler) VALUES ($2, $3, $1, $4, now(), repeat('x', 22));
      RETURN balance;
    END
  $$`;

/** The four sums are equal if no transaction was lost, done twice or done in part. */
export const SUMS = `
  SELECT (SELECT coalesce(sum(abalance), 0)::text FROM pgbench_accounts) AS accounts,
         (SELECT coalesce(sum(tbalance), 0)::text FROM pgbench_tellers) AS tellers,
         (SELECT coalesce(sum(bbalance), 0)::text FROM pgbench_branches) AS branches,
         (SELECT coalesce(sum(delta), 0)::text FROM pgbench_history) AS history`;
