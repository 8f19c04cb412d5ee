"""Starts the server that SERVER names, once its configuration is found to be right."""

import errno
import os
import socket
import sqlite3
import sys
from pathlib import Path

from config import Config, UsageError, read_config
from people import People
from servers import SERVERS, waitress


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
        claim(config)
        check_database(config.db_file)
    except UsageError as error:
        sys.exit(str(error))
    start(config)


def claim(config: Config) -> None:
    """Finds out whether the port can be had; SO_REUSEPORT would share it without a word."""
    host, port = config.host, config.port
    try:
        socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
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


if __name__ == "__main__":
    main()
