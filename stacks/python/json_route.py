"""How bodies reach FastAPI ("Custom Request and APIRoute class"): checked, limited, read as JavaScript reads JSON."""

import re
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import unquote

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

from javascript import parse

BODY_BYTES = 102_400

# Without a charset that some would decode, and others take for UTF-8.
JSON_TYPE = re.compile(r'application/json\s*(;\s*charset="?utf-8"?\s*)?', re.IGNORECASE | re.ASCII)


class JSONRequest(Request):
    async def body(self) -> bytes:
        if not hasattr(self, "_body"):
            if not JSON_TYPE.fullmatch(self.headers.get("content-type", "")) or self.headers.get("content-encoding"):
                raise HTTPException(415, "the body must be of content-type application/json in UTF-8, not compressed")
            self._body = await self._read()
        return self._body

    async def json(self) -> Any:
        body = await self.body()
        try:
            return parse(body.decode("utf-8-sig", "replace"))
        except ValueError as error:
            raise _not_json() from error

    async def _read(self) -> bytes:
        """Refuses what is too large before it has come; uvicorn lets the rest past, so that the answer is read."""
        if int(self.headers.get("content-length", 0)) > BODY_BYTES:
            raise _too_large()
        body = bytearray()
        async for part in self.stream():
            body += part
            if len(body) > BODY_BYTES:
                raise _too_large()
        if not body:
            raise _not_json()  # FastAPI would call it missing
        return bytes(body)


class JSONRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_json(request: Request) -> Response:
            return await handle(JSONRequest(request.scope, request.receive))

        return handle_json

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """By the path as it was sent: an escaped slash is part of a segment."""
        match, child_scope = super().matches({**scope, "path": scope["raw_path"].decode("latin-1")})
        if match is not Match.NONE:
            parameters = child_scope["path_params"]
            child_scope["path_params"] = {name: unquote(value) for name, value in parameters.items()}
        return match, child_scope


def _not_json() -> HTTPException:
    return HTTPException(400, "the body is not valid JSON")


def _too_large() -> HTTPException:
    return HTTPException(413, f"the body is larger than {BODY_BYTES} bytes")
