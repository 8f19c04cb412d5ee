"""Everything that is set from outside, by environment variables."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

DRIVERS = ("sqlite3",)


class UsageError(Exception):
    """A mistake of whoever starts the server: one line that names the value and the remedy."""


@dataclass(frozen=True)
class Config:
    """What the environment says, checked."""

    server: str
    host: str
    port: int
    db_file: str
    driver: str
    workers: int


def read_config(env: Mapping[str, str], servers: Iterable[str]) -> Config:
    """Reads the environment; UsageError names the variable, its value and what it may be."""
    server = env.get("SERVER", "")
    if server not in servers:
        raise UsageError(f'SERVER is "{server}": set it to one of {" ".join(servers)}')
    driver = env.get("SQLITE_DRIVER") or DRIVERS[0]
    if driver not in DRIVERS:
        raise UsageError(f'SQLITE_DRIVER is "{driver}": on python set it to one of {" ".join(DRIVERS)}')
    return Config(
        server=server,
        host=env.get("HOST") or "0.0.0.0",
        port=_integer(env, "PORT", 3000, 65535),
        db_file=env.get("DB_FILE") or "data.db",
        driver=driver,
        workers=_integer(env, "WORKERS", 1, 256),
    )


def _integer(env: Mapping[str, str], name: str, default: int, most: int) -> int:
    text = env.get(name) or str(default)
    value = int(text) if re.fullmatch("[0-9]{1,9}", text) else 0
    if not 1 <= value <= most:
        raise UsageError(f'{name} is "{text}": set it to an integer from 1 to {most}')
    return value
