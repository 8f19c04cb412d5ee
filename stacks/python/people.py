"""A read-only view of data.db, with one query per row."""

import json
import random
import re
import threading
from pathlib import Path
from typing import Any

import pysqlite3 as sqlite3

MAX_SIZE = 500
TABLES = ("person5", "person30")

# All servers set these, because builds of SQLite have different defaults.
PRAGMAS = ("cache_size = -16000", "mmap_size = 0", "query_only = 1")

Row = dict[str, Any]


class SizeError(ValueError):
    """The server answers it with 400 and its message."""


def parse_size(text: str) -> int:
    """Stricter than int(), which accepts signs, spaces, underscores and leading zeros."""
    if re.fullmatch("[1-9][0-9]{0,2}", text) and int(text) <= MAX_SIZE:
        return int(text)
    raise SizeError(f"size must be an integer from 1 to {MAX_SIZE}, not {json.dumps(text)}")


def dict_factory(cursor: sqlite3.Cursor, values: tuple[Any, ...]) -> Row:
    """The row factory from sqlite3's documentation."""
    fields = [column[0] for column in cursor.description]
    return dict(zip(fields, values, strict=True))


class People:
    """Each thread has a connection, which keeps its prepared statements, with their text as key."""

    def __init__(self, file: str) -> None:
        """Raises sqlite3.Error or ValueError if the file is not what createdb.ts writes."""
        self._uri = f"{Path(file).absolute().as_uri()}?mode=ro"
        self._local = threading.local()
        self._ids = {table: self._ids_of(table) for table in TABLES}

    def random_rows(self, table: str, size: int) -> list[Row]:
        """Reads `size` rows with uniformly random ids."""
        connection = self._connection
        rows = []
        for row_id in random.choices(self._ids[table], k=size):
            [row] = connection.execute(f"SELECT * FROM {table} WHERE id = ?", (row_id,))
            rows.append(row)
        return rows

    @property
    def _connection(self) -> sqlite3.Connection:
        try:
            return self._local.connection
        except AttributeError:
            self._local.connection = connection = sqlite3.connect(self._uri, uri=True)
            connection.row_factory = dict_factory
            for pragma in PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
            return connection

    def _ids_of(self, table: str) -> range:
        [row] = self._connection.execute(f"SELECT min(id), max(id), count(*) FROM {table}")
        first, last, rows = row.values()
        if rows == 0 or last - first + 1 != rows:
            raise ValueError(f"{table} is empty or has gaps between its ids")
        return range(first, last + 1)
