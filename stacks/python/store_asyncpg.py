"""Content items and users in Postgres, by asyncpg."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from config import PostgresConfig
from sqlite import Row
from store_postgres import CONNECT_SECONDS, STATEMENT_SECONDS, STATEMENTS, failures

# What tells of a connection that is lost or cannot be made, beside SQLSTATE. The last is of one that Postgres has ended
# while it was idle.
LOST = (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError)


class AsyncpgSession:
    """Of a pool, or of one of its connections."""

    def __init__(self, on: asyncpg.Pool | asyncpg.pool.PoolConnectionProxy) -> None:
        self._on = on

    async def query(self, statement: str, *values: Any) -> list[Row]:
        with failures(*LOST):
            return [dict(record) for record in await self._on.fetch(STATEMENTS[statement], *values)]

    async def execute(self, statement: str, *values: Any) -> int:
        with failures(*LOST):
            status = await self._on.execute(STATEMENTS[statement], *values)  # e.g. DELETE 1
        return int(status.split()[-1])


class AsyncpgDatabase(AsyncpgSession):
    def __init__(self, pool: asyncpg.Pool) -> None:
        super().__init__(pool)
        self._pool = pool

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncpgSession]:
        with failures(*LOST):
            async with self._pool.acquire() as connection, connection.transaction():
                yield AsyncpgSession(connection)

    async def close(self) -> None:
        await self._pool.close()


async def open_asyncpg(config: PostgresConfig) -> AsyncpgDatabase:
    pool = await asyncpg.create_pool(
        config.url,
        min_size=0,
        max_size=config.pool,
        timeout=CONNECT_SECONDS,
        server_settings={"statement_timeout": str(STATEMENT_SECONDS * 1000)},
        statement_cache_size=100 if config.prepare else 0,
        max_cached_statement_lifetime=0,
    )
    return AsyncpgDatabase(pool)
