"""What all connections to SQLite have in common."""

import sqlite3
from typing import Any

# The same for all servers, where builds of SQLite would differ.
PRAGMAS = ("cache_size = -16000", "mmap_size = 0")

Row = dict[str, Any]


def dict_row(cursor: sqlite3.Cursor, values: tuple[Any, ...]) -> Row:
    """A row factory."""
    return {column[0]: value for column, value in zip(cursor.description, values, strict=True)}
