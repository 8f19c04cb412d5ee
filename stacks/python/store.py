"""Where content items and users are kept: the statements, and what a database must be able to do."""

from asyncio import Lock
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, cast

from fastapi import HTTPException

from config import Config
from sqlite import Row

# Statements of both databases; ? stands for a parameter, data is JSON text.
SQL = {
    "create": "INSERT INTO content VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    "read": "SELECT * FROM content WHERE id = ?",
    "update": """UPDATE content SET title = ?, body = ?, author = ?, status = ?, data = ?, updated_at = ? WHERE id = ?
                 RETURNING *""",
    "remove": "DELETE FROM content WHERE id = ?",
    "list": "SELECT * FROM content WHERE id > ? ORDER BY id LIMIT ?",
    "users": 'SELECT id, name, email FROM "user" ORDER BY id LIMIT ?',
    "add_user": 'INSERT INTO "user" (name, email) VALUES (?, ?) RETURNING id, name, email',
}


class ConflictError(Exception):
    """There is one of this id already."""


class FullError(HTTPException):
    def __init__(self) -> None:
        super().__init__(507, "the store is full")


class UnavailableError(HTTPException):
    """The same request may succeed a little later."""

    def __init__(self) -> None:
        super().__init__(503, "the store cannot be reached", {"Retry-After": "1"})


class UndoneError(UnavailableError):
    """Nothing is left of a transaction, as others were in its way."""


class Session(Protocol):
    """Runs statements by their names; raises the errors above where they fit."""

    async def query(self, statement: str, *values: Any) -> list[Row]: ...

    async def execute(self, statement: str, *values: Any) -> int:
        """Returns how many rows it has changed."""


class Database(Session, Protocol):
    async def close(self) -> None: ...


class Transactor(Session, Protocol):
    """A database with the tables of pgbench."""

    def transaction(self) -> AbstractAsyncContextManager[Session]: ...


class Store:
    """Items and users are rows, their columns in the order of the tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def transactor(self) -> Transactor:
        """Postgres alone is one."""
        return cast(Transactor, self._database)

    async def create(self, content: Row) -> None:
        try:
            await self._database.execute("create", *content.values())
        except ConflictError as error:
            raise HTTPException(409, f"there is a content {content['id']} already") from error

    async def read(self, content_id: str) -> Row:
        return _only(await self._database.query("read", content_id))

    async def update(self, content_id: str, draft: Row, updated_at: str) -> Row:
        """Replaces what a client says of a content, and returns it as it is then."""
        return _only(await self._database.query("update", *draft.values(), updated_at, content_id))

    async def remove(self, content_id: str) -> None:
        if await self._database.execute("remove", content_id) == 0:
            raise HTTPException(404)

    async def contents(self, after: str, limit: int) -> list[Row]:
        """The first by id whose id is greater than after."""
        return await self._database.query("list", after, limit)

    async def users(self, limit: int) -> list[Row]:
        return await self._database.query("users", limit)

    async def add_user(self, name: str, email: str) -> Row:
        return _only(await self._database.query("add_user", name, email))

    async def close(self) -> None:
        await self._database.close()


class StoreOpener:
    """Opens the store when it is first used, unless that is done before. Where that fails, the next one tries again."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._lock = Lock()
        self._store: Store | None = None

    async def get(self) -> Store:
        """Raises UsageError where it cannot be opened."""
        async with self._lock:
            if self._store is None:
                self._store = await open_store(self._config)
            return self._store

    async def close(self) -> None:
        if self._store is not None:
            await self._store.close()


async def open_store(config: Config) -> Store:
    """Loads no client but the one that is used."""
    if config.store == "postgres":
        from store_postgres import open_postgres

        return Store(await open_postgres(config.postgres))
    from store_sqlite import open_sqlite

    return Store(open_sqlite(config.sqlite))


def _only(rows: list[Row]) -> Row:
    if not rows:
        raise HTTPException(404)
    return rows[0]
