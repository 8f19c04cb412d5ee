"""Content items and users in Postgres, by psycopg."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection, AsyncRawCursor, OperationalError
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from config import PostgresConfig
from sqlite import Row
from store import UnavailableError, UndoneError
from store_postgres import CONNECT_SECONDS, STATEMENT_SECONDS, STATEMENTS, failures


class PsycopgSession:
    """Of one connection of a pool."""

    def __init__(self, connection: AsyncConnection[Row]) -> None:
        self._connection = connection

    async def query(self, statement: str, *values: Any) -> list[Row]:
        with failures(OperationalError):
            return await (await self._connection.execute(STATEMENTS[statement], values)).fetchall()

    async def execute(self, statement: str, *values: Any) -> int:
        with failures(OperationalError):
            return (await self._connection.execute(STATEMENTS[statement], values)).rowcount


class PsycopgDatabase:
    def __init__(self, pool: AsyncConnectionPool) -> None:
        self._pool = pool

    async def query(self, statement: str, *values: Any) -> list[Row]:
        return await (await self._run(statement, values)).fetchall()

    async def execute(self, statement: str, *values: Any) -> int:
        return (await self._run(statement, values)).rowcount

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[PsycopgSession]:
        try:
            with failures(OperationalError):
                async with self._pool.connection() as connection, connection.transaction():
                    yield PsycopgSession(connection)
        except UndoneError:
            raise
        except UnavailableError:
            await self._pool.check()
            raise

    async def close(self) -> None:
        await self._pool.close()

    async def _run(self, statement: str, values: tuple[Any, ...]) -> AsyncRawCursor[Row]:
        try:
            with failures(OperationalError):
                async with self._pool.connection() as connection:
                    return await connection.execute(STATEMENTS[statement], values)
        except UnavailableError:
            await self._pool.check()  # the pool does not look at connections while they are idle
            raise


async def open_psycopg(config: PostgresConfig) -> PsycopgDatabase:
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # it would warn of every connection that is lost
    pool = AsyncConnectionPool(
        config.url,
        min_size=0,
        max_size=config.pool,
        open=False,
        timeout=CONNECT_SECONDS,
        reconnect_timeout=CONNECT_SECONDS,
        kwargs={
            "autocommit": True,
            "connect_timeout": CONNECT_SECONDS,
            "options": f"-c statement_timeout={STATEMENT_SECONDS * 1000}",
            "cursor_factory": AsyncRawCursor,
            "prepare_threshold": 0 if config.prepare else None,
            "row_factory": dict_row,
        },
    )
    await pool.open()
    return PsycopgDatabase(pool)
