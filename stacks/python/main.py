"""Starts the server that SERVER names, once its configuration is found to be right."""

import asyncio
import errno
import os
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

from config import Config, UsageError, read_config
from people import People
from servers import SERVERS, listen, uvicorn, waitress


def main() -> None:
    """Exits 1 with one line where the configuration is wrong."""
    try:
        config = read_config(os.environ, SERVERS)
        start = SERVERS[config.server]
        if start is waitress and config.workers > 1:
            raise UsageError(
                f'WORKERS is "{config.workers}": waitress has one process, '
                "and Python does not use every core by threads: leave it out"
            )
        config = replace(config, host=claim(config.host, config.port))
        check_database(config.db_file)
        if start is uvicorn:
            check_store(config)
    except UsageError as error:
        sys.exit(str(error))
    start(config)


def claim(host: str, port: int) -> str:
    """Finds out whether the port can be had, and at which numeric address, which granian needs."""
    try:
        with listen(host, port) as probe:
            return probe.getsockname()[0]
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        code = errno.errorcode.get(error.errno or 0, error.strerror)
        reason = "is taken" if taken else f"cannot be listened on ({code})"
        raise UsageError(f"{host}:{port} {reason}: choose another with PORT or HOST") from error


def check_database(file: str) -> None:
    """Opens it as each process will."""
    if not Path(file).exists():
        raise UsageError(f'no database at "{file}": make it with: bun createdb.ts --file {file}')
    try:
        People(file).close()
    except (sqlite3.Error, ValueError) as error:
        remedy = f"make it again with: bun createdb.ts --file {file}"
        raise UsageError(f'"{file}" cannot be used ({error}): {remedy}') from error


def check_store(config: Config) -> None:
    """Opens it, so that one process makes its tables, unless it is to be opened when it is first used."""
    if config.workers > 1 and config.store != "postgres" and config.sqlite.file == ":memory:":
        raise UsageError(
            f"WORKERS is {config.workers}, and each would have a memory of its own: "
            "set STORE or CONTENT_FILE to one they share"
        )
    if config.store:
        asyncio.run(open_and_close(config))


async def open_and_close(config: Config) -> None:
    from store import open_store

    store = await open_store(config)
    await store.close()


if __name__ == "__main__":
    main()
