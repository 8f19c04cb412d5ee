"""All settings; each comes from an environment variable."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

# SERVER -> its framework and its HTTP server.
SERVERS = {
    "python-fastapi": ("fastapi", "uvicorn"),
    "python-flask-bjoern": ("flask", "bjoern"),
    "python-flask-granian": ("flask", "granian"),
    "python-flask-waitress": ("flask", "waitress"),
}


class UsageError(Exception):
    """A mistake in the configuration. The message is one line with the value and the remedy."""


@dataclass(frozen=True)
class PostgresConfig:
    """How FastAPI reaches the tables of pgbench."""

    client: str
    url: str
    pool: int  # maximum number of connections
    prepare: bool
    tx: str  # "statements" sends the five statements of a transaction, "function" calls one function


@dataclass(frozen=True)
class Config:
    """The settings, checked."""

    server: str
    framework: str
    http_server: str
    host: str
    port: int
    db_file: str
    driver: str
    workers: int
    postgres: PostgresConfig | None


def read_config(env: Mapping[str, str]) -> Config:
    """Raises UsageError, which names the variable, its value and the allowed values."""

    def one_of(name: str, *choices: str, where: str = "") -> str:
        value = env.get(name) or choices[0]
        if value not in choices:
            raise UsageError(f'{name} is "{value}":{where} set it to one of {" ".join(choices)}')
        return value

    def integer(name: str, default: int, most: int) -> int:
        text = env.get(name) or str(default)
        if not re.fullmatch("[0-9]{1,9}", text) or not 1 <= int(text) <= most:
            raise UsageError(f'{name} is "{text}": set it to an integer from 1 to {most}')
        return int(text)

    server = env.get("SERVER", "")
    if server not in SERVERS:
        raise UsageError(f'SERVER is "{server}": set it to one of {" ".join(SERVERS)}')
    framework, http_server = SERVERS[server]
    workers = integer("WORKERS", 1, 256)
    if workers > 1 and http_server == "waitress":
        raise UsageError(
            f'WORKERS is "{workers}": waitress has one process, '
            "and Python does not use every core by threads: leave it out"
        )
    postgres = PostgresConfig(
        client=one_of("POSTGRES_CLIENT", "asyncpg", "psycopg", where=" on python"),
        url=env.get("DATABASE_URL") or "postgres://postgres@127.0.0.1:5432/postgres",
        pool=integer("POSTGRES_POOL", 10, 1000),
        prepare=one_of("POSTGRES_PREPARE", "true", "false") == "true",
        tx=one_of("POSTGRES_TX", "statements", "function"),
    )
    return Config(
        server=server,
        framework=framework,
        http_server=http_server,
        host=env.get("HOST") or "0.0.0.0",
        port=integer("PORT", 3000, 65535),
        db_file=env.get("DB_FILE") or "data.db",
        driver=one_of("SQLITE_DRIVER", "sqlite3", where=" on python"),
        workers=workers,
        postgres=postgres if one_of("STORE", "sqlite", "postgres") == "postgres" else None,
    )
