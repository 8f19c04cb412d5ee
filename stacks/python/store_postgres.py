"""Content items and users in Postgres: what its two clients have in common."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from fastapi import HTTPException
from psycopg import AsyncConnection, IsolationLevel

from config import PostgresConfig, UsageError
from store import SQL, ConflictError, Database, FullError, UnavailableError, UndoneError

# How long a connection may take, and a statement, after which Postgres itself gives it up.
CONNECT_SECONDS = 2
STATEMENT_SECONDS = 5

REMEDY = "make them with: bun createdb.ts --tpcb"

# Number of the advisory lock under which one process at a time migrates, that of the other servers.
LOCK = 7_307

# Each is applied once, as shared/stores/migrations.ts has them.
MIGRATIONS = (
    """CREATE TABLE content (
         id TEXT COLLATE "C" PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, author TEXT NOT NULL,
         status TEXT NOT NULL, data TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
       )""",
    """CREATE TABLE "user" (
         id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL
       )""",
)


# The five statements of pgbench's own script, and a function of all that createdb.ts makes.
TRANSACTION = {
    "tx_account": "UPDATE pgbench_accounts SET abalance = abalance + ? WHERE aid = ?",
    "tx_balance": "SELECT abalance FROM pgbench_accounts WHERE aid = ?",
    "tx_teller": "UPDATE pgbench_tellers SET tbalance = tbalance + ? WHERE tid = ?",
    "tx_branch": "UPDATE pgbench_branches SET bbalance = bbalance + ? WHERE bid = ?",
    "tx_history": """INSERT INTO pgbench_history (tid, bid, aid, delta, mtime, filler)
                     VALUES (?, ?, ?, ?, now(), repeat('x', 22))""",
    "tx": "SELECT tpcb(?, ?, ?, ?)",
}


def numbered(sql: str) -> str:
    """Has $1, $2, … for ?."""
    numbers = count(1)
    return re.sub(r"\?", lambda _: f"${next(numbers)}", sql)


STATEMENTS = {name: numbered(sql) for name, sql in (SQL | TRANSACTION).items()}


async def open_postgres(config: PostgresConfig) -> Database:
    """Raises UsageError where the database cannot be reached or written."""
    try:
        await migrate(config.url)
        if config.client == "psycopg":
            from store_psycopg import open_psycopg

            return await open_psycopg(config)
        from store_asyncpg import open_asyncpg

        return await open_asyncpg(config)
    except Exception as error:  # whatever a client makes of a URL or a server
        url = re.sub("//.*@", "//", config.url)
        reason = " ".join(str(error).split())  # libpq says it in lines
        raise UsageError(f"{url} cannot be used ({reason}): start Postgres, or fix DATABASE_URL") from error


async def migrate(url: str) -> None:
    """Makes the tables, whichever client will use them."""
    async with await AsyncConnection.connect(url, autocommit=True, connect_timeout=CONNECT_SECONDS) as connection:
        # One transaction that sees what others did before: a pooler in between has no session whose lock it would keep.
        await connection.set_isolation_level(IsolationLevel.READ_COMMITTED)
        async with connection.transaction():
            await connection.execute(f"SELECT pg_advisory_xact_lock({LOCK})")
            await connection.execute("CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY)")
            applied = await (await connection.execute("SELECT count(*) FROM migration")).fetchone()
            for number in range(applied[0], len(MIGRATIONS)):
                await connection.execute(MIGRATIONS[number])
                await connection.execute("INSERT INTO migration VALUES (%s)", [number])


@contextmanager
def failures(*lost: type[Exception]) -> Iterator[None]:
    """Goes by SQLSTATE (postgresql.org/docs/current/errcodes-appendix.html), or by what a client raises without one."""
    try:
        yield
    except Exception as error:
        state = getattr(error, "sqlstate", None) or ""
        if state == "23505":
            raise ConflictError from error
        if state == "53100":
            raise FullError from error
        if state in ("40001", "40P01"):
            raise UndoneError from error
        if state == "P0002":
            raise HTTPException(404) from error
        if state == "22003":
            raise HTTPException(409, "a balance would be too large") from error
        if state in ("42P01", "42883"):
            raise UsageError(f"DATABASE_URL has no tables of pgbench: {REMEDY}") from error
        if state.startswith(("08", "53", "57014", "57P0")) or (not state and isinstance(error, lost)):
            raise UnavailableError from error
        raise
