"""pgbench's transaction: the part that both Postgres clients share."""

from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field

# How long a new connection may take.
CONNECT_SECONDS = 2
# How long a statement may take before Postgres itself cancels it.
STATEMENT_SECONDS = 5

# The five statements of pgbench's own script, and a function of createdb.ts that runs all of them.
ACCOUNT = "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2"
BALANCE = "SELECT abalance FROM pgbench_accounts WHERE aid = $1"
TELLER = "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2"
BRANCH = "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2"
HISTORY = """INSERT INTO pgbench_history (tid, bid, aid, delta, mtime, filler)
             VALUES ($1, $2, $3, $4, now(), repeat('x', 22))"""
FUNCTION = "SELECT tpcb($1, $2, $3, $4)"

Id = Annotated[int, Field(ge=1, lt=2**31)]


class Transfer(BaseModel):
    """Adds delta to an account, a teller and a branch."""

    model_config = ConfigDict(extra="forbid", strict=True)

    aid: Id
    tid: Id
    bid: Id
    delta: Annotated[int, Field(ge=-5_000, le=5_000)]


class MissingError(Exception):
    """There is no such account, teller or branch."""


class Client(Protocol):
    """A pool of connections. Both methods return the balance of the account, and raise MissingError."""

    # The client raises these, without an SQLSTATE, if a connection is lost or cannot be made.
    lost: tuple[type[Exception], ...]

    async def statements(self, transfer: Transfer) -> int:
        """BEGIN, the five statements, and COMMIT."""

    async def function(self, transfer: Transfer) -> int:
        """The same in one round trip."""
