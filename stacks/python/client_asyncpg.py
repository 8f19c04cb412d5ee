"""pgbench's transaction with asyncpg."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

import tpcb
from config import PostgresConfig


class AsyncpgClient:
    # asyncpg raises the last one if Postgres has closed an idle connection.
    lost = (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError)

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool

    async def statements(self, transfer: tpcb.Transfer) -> int:
        async with self._pool.acquire() as connection, connection.transaction():

            async def update(sql: str, key: int) -> None:
                if await connection.execute(sql, transfer.delta, key) == "UPDATE 0":
                    raise tpcb.MissingError

            await update(tpcb.ACCOUNT, transfer.aid)
            balance = await connection.fetchval(tpcb.BALANCE, transfer.aid)
            await update(tpcb.TELLER, transfer.tid)
            await update(tpcb.BRANCH, transfer.bid)
            await connection.execute(tpcb.HISTORY, transfer.tid, transfer.bid, transfer.aid, transfer.delta)
            return balance

    async def function(self, transfer: tpcb.Transfer) -> int:
        return await self._pool.fetchval(tpcb.FUNCTION, transfer.aid, transfer.tid, transfer.bid, transfer.delta)


@asynccontextmanager
async def open_client(config: PostgresConfig) -> AsyncIterator[AsyncpgClient]:
    async with asyncpg.create_pool(
        config.url,
        min_size=0,
        max_size=config.pool,
        timeout=tpcb.CONNECT_SECONDS,
        server_settings={"statement_timeout": f"{tpcb.STATEMENT_SECONDS}s"},
        statement_cache_size=100 if config.prepare else 0,
    ) as pool:
        yield AsyncpgClient(pool)
