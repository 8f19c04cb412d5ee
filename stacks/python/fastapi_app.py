"""The routes in FastAPI."""

import os
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.templating import Jinja2Templates
from pydantic import BeforeValidator
from starlette.exceptions import HTTPException

from config import read_config
from identity import identify
from people import People, Row, parse_size

config = read_config(os.environ)
people = People(config.db_file)
identity = identify(config)
templates = Jinja2Templates(Path(__file__).with_name("templates"))
templates.env.auto_reload = False
templates.env.keep_trailing_newline = True

app = FastAPI(openapi_url=None, redirect_slashes=False)
get = partial(app.api_route, methods=["GET", "HEAD"])

Size = Annotated[int, BeforeValidator(parse_size)]


@get("/")
def root() -> dict[str, Any]:
    return identity()


@get("/plain")
async def plain() -> dict[str, str]:
    return {"message": "Hello, world!"}


@get("/html-template", response_class=HTMLResponse)
async def html_template(request: Request) -> HTMLResponse:
    return templates.TemplateResponse(request, "hi.html", {"name": "Ben"})


# The next two are not async, so FastAPI runs them in threads, and a query does not block the event loop.
@get("/sqlite/random-5fields/{size}")
def random_5fields(size: Size) -> list[Row]:
    return people.random_rows("person5", size)


@get("/sqlite/random-30fields/{size}")
def random_30fields(size: Size) -> list[Row]:
    return people.random_rows("person30", size)


if config.postgres:
    from transactions import transactions

    app.include_router(transactions(config.postgres))


@app.exception_handler(RequestValidationError)
async def invalid(_request: Request, error: RequestValidationError) -> JSONResponse:
    first = error.errors()[0]
    if first["loc"][0] == "path":
        return JSONResponse({"error": str(first["ctx"]["error"])}, 400)
    text = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return JSONResponse({"error": text}, 400 if first["type"] == "json_invalid" else 422)


@app.exception_handler(HTTPException)
async def http_error(_request: Request, error: HTTPException) -> JSONResponse:
    if error.status_code in (404, 405):
        return JSONResponse({"error": "not found"}, 404)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


@app.exception_handler(Exception)
async def internal_error(_request: Request, _error: Exception) -> JSONResponse:
    """Hides the cause from the client; uvicorn writes it to stderr."""
    return JSONResponse({"error": "internal error"}, 500)
