"""POST /tx: pgbench's transaction."""

import asyncio
import random
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Header, HTTPException, Request
from pydantic import BaseModel

from config import PostgresConfig
from tpcb import Client, MissingError, Transfer

MAX_BODY_BYTES = 102_400

# How often a transaction is tried if Postgres rolls it back because of a conflict. Before attempt n + 1 there is a
# random pause of at most n * PAUSE_SECONDS.
ATTEMPTS = 5
PAUSE_SECONDS = 0.005
# After this time the request gets a 503, even if Postgres does not answer at all.
ANSWER_SECONDS = 7

# SQLSTATE (postgresql.org/docs/current/errcodes-appendix.html): Postgres has rolled the transaction back.
UNDONE = ("40001", "40P01")
# Classes for which the same request may succeed later: connection, rollback, resources, intervention.
UNAVAILABLE = ("08", "40", "53", "57")
NO_TABLES = ("42P01", "42883")


class Balance(BaseModel):
    """The new balance of the account."""

    abalance: int


def require_json(content_type: Annotated[str, Header()] = "") -> None:
    """Answers other types with 415, because FastAPI itself answers 422."""
    if not content_type.lower().startswith("application/json"):
        raise HTTPException(415, "the body must be application/json")


def transactions(config: PostgresConfig) -> APIRouter:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[dict[str, Client]]:
        if config.client == "psycopg":
            from client_psycopg import open_client
        else:
            from client_asyncpg import open_client
        async with open_client(config) as client:
            yield {"client": client}

    router = APIRouter(lifespan=lifespan)

    @router.post("/tx", dependencies=[Depends(require_json)], max_body_size=MAX_BODY_BYTES)
    async def transact(transfer: Transfer, request: Request) -> Balance:
        client: Client = request.state.client
        ask = client.function if config.tx == "function" else client.statements
        try:
            return Balance(abalance=await in_time(attempt(ask, transfer)))
        except Exception as error:
            failure = failure_of(error, client.lost)
            if failure is None:
                raise
            raise failure from error

    return router


async def in_time(work: Coroutine[Any, Any, int]) -> int:
    """Does not await the cancelled work, unlike asyncio.timeout(): clients then ask Postgres, which may hang."""
    task = asyncio.create_task(work)
    done, _ = await asyncio.wait([task], timeout=ANSWER_SECONDS)
    if not done:
        task.add_done_callback(lambda task: task.cancelled() or task.exception())
        task.cancel()
        raise TimeoutError
    return task.result()


async def attempt(ask: Callable[[Transfer], Awaitable[int]], transfer: Transfer, number: int = 1) -> int:
    try:
        return await ask(transfer)
    except Exception as error:
        if number == ATTEMPTS or getattr(error, "sqlstate", None) not in UNDONE:
            raise
    await asyncio.sleep(random.random() * number * PAUSE_SECONDS)
    return await attempt(ask, transfer, number + 1)


def failure_of(error: Exception, lost: tuple[type[Exception], ...]) -> HTTPException | None:
    """Goes by SQLSTATE. If a connection is lost or cannot be made, clients raise errors without an SQLSTATE."""
    state: str = getattr(error, "sqlstate", None) or ""
    if isinstance(error, MissingError) or state == "P0002":
        return HTTPException(404)
    if state == "22003":
        return HTTPException(409, "a balance would be too large")
    if state in NO_TABLES:
        print("DATABASE_URL has no tables of pgbench: make them with: bun createdb.ts --tpcb", file=sys.stderr)
    elif not state.startswith(UNAVAILABLE) and (state or not isinstance(error, (TimeoutError, *lost))):
        return None
    return HTTPException(503, "the store cannot be reached", {"Retry-After": "1"})
