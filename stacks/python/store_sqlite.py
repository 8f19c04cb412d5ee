"""Content items and users in SQLite, by sqlite3."""

import sqlite3
from asyncio import get_running_loop
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from config import SqliteConfig, UsageError
from sqlite import PRAGMAS, Row, dict_row
from store import SQL, ConflictError, FullError, UnavailableError

# How long a write waits for those of other processes.
BUSY_SECONDS = 5

# Each is applied once, as shared/stores/migrations.ts has them.
MIGRATIONS = (
    """CREATE TABLE content (
         id TEXT PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, author TEXT NOT NULL, status TEXT NOT NULL,
         data TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
       ) STRICT""",
    "CREATE TABLE user (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, email TEXT NOT NULL) STRICT",
)

# By the primary result code (sqlite.org/rescode.html).
FAILURES: dict[int, type[Exception]] = {
    sqlite3.SQLITE_CONSTRAINT: ConflictError,
    sqlite3.SQLITE_BUSY: UnavailableError,
    sqlite3.SQLITE_IOERR: UnavailableError,
    sqlite3.SQLITE_FULL: FullError,
}


class SqliteDatabase:
    """One connection, used in a thread of its own: more would wait for each other's locks by sleeping."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._thread = ThreadPoolExecutor(max_workers=1)

    async def query(self, statement: str, *values: Any) -> list[Row]:
        return await self._run(lambda: self._connection.execute(SQL[statement], values).fetchall())

    async def execute(self, statement: str, *values: Any) -> int:
        return await self._run(lambda: self._connection.execute(SQL[statement], values).rowcount)

    async def close(self) -> None:
        await self._run(self._connection.close)
        self._thread.shutdown()

    async def _run(self, use: Callable[[], Any]) -> Any:
        with failures():
            return await get_running_loop().run_in_executor(self._thread, use)


def open_sqlite(config: SqliteConfig) -> SqliteDatabase:
    """Raises UsageError where the file cannot be opened to write."""
    try:
        # It begins no transactions of its own, and keeps statements prepared by their text.
        connection = sqlite3.connect(config.file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        for pragma in (f"journal_mode = {config.journal}", f"synchronous = {config.synchronous}", *PRAGMAS):
            connection.execute(f"PRAGMA {pragma}")
        migrate(connection)
    except sqlite3.Error as error:
        remedy = "set it to a file that can"
        raise UsageError(f'CONTENT_FILE "{config.file}" cannot be written ({error}): {remedy}') from error
    connection.row_factory = dict_row
    return SqliteDatabase(connection)


def migrate(connection: sqlite3.Connection) -> None:
    def applied() -> int:
        return connection.execute("PRAGMA user_version").fetchone()[0]

    if applied() == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    for migration in MIGRATIONS[applied() :]:  # again: another process may have been faster
        connection.execute(migration)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    connection.execute("COMMIT")


@contextmanager
def failures() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        failure = FAILURES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
        if failure is None:
            raise
        raise failure from error
