"""pgbench's transaction with psycopg."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from psycopg import AsyncRawCursor, OperationalError
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import AsyncConnectionPool

import tpcb
from config import PostgresConfig


class PsycopgClient:
    lost = (OperationalError,)

    def __init__(self, pool: AsyncConnectionPool) -> None:
        self._pool = pool

    async def statements(self, transfer: tpcb.Transfer) -> int:
        async with self._pool.connection() as connection, connection.transaction():

            async def update(sql: str, key: int) -> None:
                if (await connection.execute(sql, (transfer.delta, key))).rowcount == 0:
                    raise tpcb.MissingError

            await update(tpcb.ACCOUNT, transfer.aid)
            [balance] = await (await connection.execute(tpcb.BALANCE, (transfer.aid,))).fetchone()
            await update(tpcb.TELLER, transfer.tid)
            await update(tpcb.BRANCH, transfer.bid)
            await connection.execute(tpcb.HISTORY, (transfer.tid, transfer.bid, transfer.aid, transfer.delta))
            return balance

    async def function(self, transfer: tpcb.Transfer) -> int:
        async with self._pool.connection() as connection:
            values = (transfer.aid, transfer.tid, transfer.bid, transfer.delta)
            [balance] = await (await connection.execute(tpcb.FUNCTION, values)).fetchone()
            return balance


@asynccontextmanager
async def open_client(config: PostgresConfig) -> AsyncIterator[PsycopgClient]:
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # no warning for every lost connection
    given = conninfo_to_dict(config.url).get("options", "")
    options = f"-c statement_timeout={tpcb.STATEMENT_SECONDS}s {given}".rstrip()  # PgBouncer refuses a space at the end
    async with AsyncConnectionPool(
        config.url,
        min_size=0,
        max_size=config.pool,
        timeout=tpcb.CONNECT_SECONDS,
        reconnect_timeout=tpcb.CONNECT_SECONDS,
        kwargs={
            "autocommit": True,
            "connect_timeout": tpcb.CONNECT_SECONDS,
            "cursor_factory": AsyncRawCursor,
            "options": options,
            "prepare_threshold": 0 if config.prepare else None,
        },
    ) as pool:
        yield PsycopgClient(pool)
