"""pgbench's transaction, as shared/tpcb/ has it."""

import asyncio
import random
import re
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Request
from pydantic import PlainValidator

from config import UsageError
from content import OpenedStore, parameter
from inputs import InputError, quote
from json_route import JSONRoute
from schema import Body
from store import Session, Transactor, UnavailableError, UndoneError

MAX_ID = 2**31 - 1
MAX_DELTA = 5_000

# How often a transaction is tried where others are in its way, and the most that it waits before the second, each time
# more.
ATTEMPTS = 5
PAUSE_SECONDS = 0.005
ANSWER_SECONDS = 7


def whole(least: int, most: int) -> PlainValidator:
    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
            raise ValueError("must be integer")
        if value < least:
            raise ValueError(f"must be >= {least}")
        if value > most:
            raise ValueError(f"must be <= {most}")
        return int(value)

    return PlainValidator(check)


class Transfer(Body):
    """Moves delta to an account, a teller and a branch."""

    aid: Annotated[int, whole(1, MAX_ID)]
    tid: Annotated[int, whole(1, MAX_ID)]
    bid: Annotated[int, whole(1, MAX_ID)]
    delta: Annotated[int, whole(-MAX_DELTA, MAX_DELTA)]


Transact = Callable[[Transactor, Transfer], Awaitable[int]]


async def by_function(database: Transactor, transfer: Transfer) -> int:
    """One round trip."""
    rows = await database.query("tx", transfer.aid, transfer.tid, transfer.bid, transfer.delta)
    return rows[0]["tpcb"]


async def in_statements(database: Transactor, transfer: Transfer) -> int:
    """BEGIN, the five, and COMMIT."""
    async with database.transaction() as session:
        await add(session, "tx_account", transfer.delta, transfer.aid)
        rows = await session.query("tx_balance", transfer.aid)
        await add(session, "tx_teller", transfer.delta, transfer.tid)
        await add(session, "tx_branch", transfer.delta, transfer.bid)
        await session.execute("tx_history", transfer.tid, transfer.bid, transfer.aid, transfer.delta)
        return rows[0]["abalance"]


async def add(session: Session, statement: str, delta: int, key: int) -> None:
    if await session.execute(statement, delta, key) == 0:
        raise HTTPException(404)


async def in_time(work: Awaitable[int]) -> int:
    """Does not wait for the end of what is given up: a client asks a Postgres that does not answer to cancel it."""
    task = asyncio.ensure_future(work)
    done, _ = await asyncio.wait([task], timeout=ANSWER_SECONDS)
    if not done:
        task.add_done_callback(lambda task: task.cancelled() or task.exception())
        task.cancel()
        raise UnavailableError
    return task.result()


async def attempt(how: Transact, database: Transactor, transfer: Transfer) -> int:
    for n in range(1, ATTEMPTS):
        try:
            return await how(database, transfer)
        except UndoneError:
            await asyncio.sleep(random.random() * n * PAUSE_SECONDS)
    return await how(database, transfer)


def transactions(how: str) -> APIRouter:
    """The routes; how is a value of POSTGRES_TX."""
    router = APIRouter(route_class=JSONRoute)
    ask = partial(attempt, by_function if how == "function" else in_statements)

    async def transact(store: OpenedStore, transfer: Transfer) -> dict[str, int]:
        try:
            return {"abalance": await in_time(ask(store.transactor, transfer))}
        except UsageError as error:
            print(error, file=sys.stderr)
            raise UnavailableError from error

    @router.post("/tx")
    async def by_body(transfer: Transfer, store: OpenedStore) -> dict[str, int]:
        return await transact(store, transfer)

    @router.api_route("/tx", methods=["GET", "HEAD"])
    async def by_query(request: Request, store: OpenedStore) -> dict[str, int]:
        ranges = dict.fromkeys(("aid", "tid", "bid"), (1, MAX_ID)) | {"delta": (-MAX_DELTA, MAX_DELTA)}
        said = {name: integer(name, parameter(request, name, ""), *within) for name, within in ranges.items()}
        return await transact(store, Transfer(**said))

    return router


def integer(name: str, text: str, least: int, most: int) -> int:
    if re.fullmatch("0|-?[1-9][0-9]{0,9}", text, re.ASCII) and least <= int(text) <= most:
        return int(text)
    raise InputError(f"{name} must be an integer from {least} to {most}, not {quote(text)}")
