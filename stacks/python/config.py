"""Everything that is set from outside, by environment variables."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

DRIVERS = ("sqlite3",)
STORES = ("sqlite", "postgres")
CLIENTS = ("asyncpg", "psycopg")


class UsageError(Exception):
    """A mistake of whoever starts the server: one line that names the value and the remedy."""


@dataclass(frozen=True)
class SqliteConfig:
    """How content items are kept in SQLite."""

    file: str
    journal: str
    synchronous: str


@dataclass(frozen=True)
class PostgresConfig:
    """How content items are kept in Postgres."""

    client: str
    url: str
    pool: int  # most connections at a time
    prepare: bool
    tx: str  # how transactions of pgbench are asked


@dataclass(frozen=True)
class Config:
    """What the environment says, checked."""

    server: str
    host: str
    port: int
    db_file: str
    driver: str
    workers: int
    store: str | None  # None is sqlite, opened when it is first used
    sqlite: SqliteConfig
    postgres: PostgresConfig


def read_config(env: Mapping[str, str], servers: Iterable[str]) -> Config:
    """Reads the environment; UsageError names the variable, its value and what it may be."""
    server = env.get("SERVER", "")
    if server not in servers:
        raise UsageError(f'SERVER is "{server}": set it to one of {" ".join(servers)}')
    return Config(
        server=server,
        host=env.get("HOST") or "0.0.0.0",
        port=_integer(env, "PORT", 3000, 65535),
        db_file=env.get("DB_FILE") or "data.db",
        driver=_one_of(env, "SQLITE_DRIVER", DRIVERS, " on python"),
        workers=_integer(env, "WORKERS", 1, 256),
        store=_one_of(env, "STORE", STORES) if env.get("STORE") else None,
        sqlite=SqliteConfig(
            file=env.get("CONTENT_FILE") or "content.db",
            journal=_one_of(env, "SQLITE_JOURNAL", ("wal", "delete")),
            synchronous=_one_of(env, "SQLITE_SYNCHRONOUS", ("normal", "full", "off", "extra")),
        ),
        postgres=PostgresConfig(
            client=_one_of(env, "POSTGRES_CLIENT", CLIENTS, " on python"),
            url=env.get("DATABASE_URL") or "postgres://postgres@127.0.0.1:5432/postgres",
            pool=_integer(env, "POSTGRES_POOL", 10, 1000),
            prepare=_one_of(env, "POSTGRES_PREPARE", ("true", "false")) == "true",
            tx=_one_of(env, "POSTGRES_TX", ("statements", "function")),
        ),
    )


def _one_of(env: Mapping[str, str], name: str, choices: tuple[str, ...], where: str = "") -> str:
    """The first where none is set."""
    value = env.get(name) or choices[0]
    if value not in choices:
        raise UsageError(f'{name} is "{value}":{where} set it to one of {" ".join(choices)}')
    return value


def _integer(env: Mapping[str, str], name: str, default: int, most: int) -> int:
    text = env.get(name) or str(default)
    value = int(text) if re.fullmatch("[0-9]{1,9}", text) else 0
    if not 1 <= value <= most:
        raise UsageError(f'{name} is "{text}": set it to an integer from 1 to {most}')
    return value
