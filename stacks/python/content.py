"""The content API."""

import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import AfterValidator

from config import UsageError
from inputs import integer, ulid
from javascript import string, stringify
from json_route import JSONRoute
from schema import Draft, NewContent, NewUser
from sqlite import Row
from store import Store, UnavailableError

MAX_LIMIT = 100  # items in a page of GET /content
LIMIT = "20"
USERS = 100  # of GET /users

# Made by openapi.ts, which build.sh calls.
BUILD = Path(__file__).with_name("build")


async def opened(request: Request) -> Store:
    try:
        return await request.app.state.stores.get()
    except UsageError as error:
        print(error, file=sys.stderr)
        raise UnavailableError from error


OpenedStore = Annotated[Store, Depends(opened)]
ContentId = Annotated[str, AfterValidator(partial(ulid, "id"))]

router = APIRouter(route_class=JSONRoute)
get = partial(router.api_route, methods=["GET", "HEAD"])


@router.post("/content")
async def create_content(content: NewContent, store: OpenedStore) -> Response:
    time = now()
    row = {**dict(content), "data": stringify(content.data), "created_at": time, "updated_at": time}
    await store.create(row)
    return answer(write_content(row), 201)


@get("/content")
async def list_contents(request: Request, store: OpenedStore) -> Response:
    limit = integer("limit", parameter(request, "limit", LIMIT), MAX_LIMIT)
    after = parameter(request, "after", "")
    if after:
        ulid("after", after)
    rows = await store.contents(after, limit + 1)  # one more than asked for tells whether there is a next page
    items = rows[:limit]
    following = string(items[-1]["id"]) if len(rows) > limit else "null"
    return answer(f'{{"items":[{",".join(map(write_content, items))}],"next":{following}}}')


@get("/content/{content_id}")
async def read_content(content_id: ContentId, store: OpenedStore) -> Response:
    return answer(write_content(await store.read(content_id)))


@router.put("/content/{content_id}")
async def update_content(content_id: ContentId, draft: Draft, store: OpenedStore) -> Response:
    said = {**dict(draft), "data": stringify(draft.data)}
    return answer(write_content(await store.update(content_id, said, now())))


@router.delete("/content/{content_id}")
async def remove_content(content_id: ContentId, store: OpenedStore) -> Response:
    await store.remove(content_id)
    return Response(status_code=204)


@get("/users")
async def list_users(store: OpenedStore) -> list[Row]:
    return await store.users(USERS)


@router.post("/users", status_code=201)
async def add_user(user: NewUser, store: OpenedStore) -> Row:
    return await store.add_user(user.name, user.email)


def described(on_postgres: bool) -> APIRouter:
    """What describes all endpoints; on Postgres there are more."""
    store = "-postgres" if on_postgres else ""
    openapi = (BUILD / f"openapi{store}.json").read_bytes()
    docs = (BUILD / f"docs{store}.html").read_bytes()
    router = APIRouter(route_class=JSONRoute)

    @router.api_route("/openapi.json", methods=["GET", "HEAD"])
    async def openapi_json() -> Response:
        return Response(openapi, media_type="application/json")

    @router.api_route("/docs", methods=["GET", "HEAD"])
    async def docs_html() -> Response:
        return HTMLResponse(docs)

    return router


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parameter(request: Request, name: str, default: str) -> str:
    """The first of that name, where FastAPI would take the last."""
    return next(iter(request.query_params.getlist(name)), default)


def answer(text: str, status: int = 200) -> Response:
    return Response(text, status, media_type="application/json")


def write_content(row: Row) -> str:
    """Its data is JSON already, which Pydantic would write otherwise than JavaScript."""
    parts = (f"{string(name)}:{value if name == 'data' else string(value)}" for name, value in row.items())
    return f"{{{','.join(parts)}}}"
