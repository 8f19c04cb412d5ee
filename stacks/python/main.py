"""Checks the configuration, then starts the server that SERVER names."""

import errno
import os
import re
import sys
from pathlib import Path

import pysqlite3 as sqlite3

from config import Config, PostgresConfig, UsageError, read_config
from people import People
from servers import START, listen


def main() -> None:
    """Exits 1 with one line if the configuration is wrong."""
    try:
        config = read_config(os.environ)
        check_port(config)
        check_database(config.db_file)
        if config.postgres:
            check_postgres(config.postgres)
    except UsageError as error:
        sys.exit(str(error))
    START[config.http_server](config)


def check_port(config: Config) -> None:
    try:
        listen(config).close()
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        reason = "is taken" if taken else f"cannot be listened on ({error.strerror})"
        raise UsageError(f"{config.host}:{config.port} {reason}: choose another with PORT or HOST") from error


def check_database(file: str) -> None:
    """Opens it in the same way as each process."""
    if not Path(file).exists():
        raise UsageError(f'no database at "{file}": make it with: bun createdb.ts --file {file}')
    try:
        People(file)
    except (sqlite3.Error, ValueError) as error:
        remedy = f"make it again with: bun createdb.ts --file {file}"
        raise UsageError(f'"{file}" cannot be used ({error}): {remedy}') from error


def check_postgres(config: PostgresConfig) -> None:
    """Connects once, for both clients with psycopg, because psycopg needs no event loop."""
    import psycopg

    from tpcb import CONNECT_SECONDS

    try:
        psycopg.connect(config.url, connect_timeout=CONNECT_SECONDS).close()
    except psycopg.Error as error:
        reason = " ".join(str(error).split())  # libpq prints one line per address
        url = re.sub("//.*@", "//", config.url)  # without the password
        raise UsageError(f"{url} cannot be used ({reason}): start Postgres, or fix DATABASE_URL") from error


if __name__ == "__main__":
    main()
