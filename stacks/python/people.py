"""Rows of data.db, read-only, each by a query of its own."""

import random
import sqlite3
import threading
from pathlib import Path

from inputs import integer
from sqlite import PRAGMAS, Row, dict_row

MAX_SIZE = 500
TABLES = ("person5", "person30")


def parse_size(text: str) -> int:
    return integer("size", text, MAX_SIZE)


class People:
    """A view of one file. Each thread has a connection, which keeps its statements prepared by their text."""

    def __init__(self, file: str) -> None:
        """Raises sqlite3.Error or ValueError where the file is not what createdb.ts writes."""
        self._uri = f"{Path(file).absolute().as_uri()}?mode=ro"
        self._local = threading.local()
        self._ids = {table: self._ids_of(table) for table in TABLES}

    def random_rows(self, table: str, size: int) -> list[Row]:
        """Reads `size` rows, their ids uniform over those that exist."""
        return [self._random_row(table) for _ in range(size)]

    def close(self) -> None:
        """Closes the connection of this thread."""
        self._connection.close()

    @property
    def _connection(self) -> sqlite3.Connection:
        try:
            return self._local.connection
        except AttributeError:
            self._local.connection = connection = sqlite3.connect(self._uri, uri=True)
            for pragma in (*PRAGMAS, "query_only = 1"):
                connection.execute(f"PRAGMA {pragma}")
            return connection

    def _ids_of(self, table: str) -> range:
        first, last, rows = self._connection.execute(f"SELECT min(id), max(id), count(*) FROM {table}").fetchone()
        if rows == 0 or last - first + 1 != rows:
            raise ValueError(f"{table} is empty or has gaps between its ids")
        return range(first, last + 1)

    def _random_row(self, table: str) -> Row:
        row_id = random.choice(self._ids[table])
        cursor = self._connection.execute(f"SELECT * FROM {table} WHERE id = ?", (row_id,))
        row = cursor.fetchone()
        if row is None:
            raise LookupError(f"{table} has lost its row {row_id}")
        return dict_row(cursor, row)
