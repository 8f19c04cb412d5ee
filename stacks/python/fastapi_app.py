"""The routes in FastAPI."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.templating import Jinja2Templates
from jinja2 import Environment, FileSystemLoader
from pydantic import BeforeValidator
from starlette.exceptions import HTTPException

import content
from config import read_config
from identity import identify, store_of
from inputs import InputError
from javascript import stringify
from people import People, parse_size
from schema import mistake
from sqlite import Row
from store import StoreOpener
from transaction import transactions

config = read_config(os.environ, ["python-fastapi"])
people = People(config.db_file)
identity = identify(config, "fastapi", "uvicorn", store=store_of(config))
views = FileSystemLoader(Path(__file__).with_name("templates"))
templates = Jinja2Templates(
    env=Environment(loader=views, autoescape=True, auto_reload=False, keep_trailing_newline=True)
)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    app.state.stores = stores = StoreOpener(config)
    if config.store:
        await stores.get()
    yield
    await stores.close()


app = FastAPI(openapi_url=None, redirect_slashes=False, lifespan=lifespan)
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


# Without async: FastAPI then runs them in threads, so that a query does not block the event loop.
@get("/sqlite/random-5fields/{size}")
def random_5fields(size: Size) -> list[Row]:
    return people.random_rows("person5", size)


@get("/sqlite/random-30fields/{size}")
def random_30fields(size: Size) -> list[Row]:
    return people.random_rows("person30", size)


app.include_router(content.router)
app.include_router(content.described(config.store == "postgres"))
if config.store == "postgres":
    app.include_router(transactions(config.postgres.tx))


@app.exception_handler(RequestValidationError)
async def invalid(_request: Request, error: RequestValidationError) -> Response:
    """Of the path, whose validators say what is wrong, or else of the body."""
    errors = error.errors()
    if errors[0]["loc"][0] == "body":
        return content.answer(stringify({"error": mistake(errors)}), 422)
    return JSONResponse({"error": str(errors[0]["ctx"]["error"])}, 400)


@app.exception_handler(InputError)
async def bad_request(_request: Request, error: InputError) -> JSONResponse:
    return JSONResponse({"error": str(error)}, 400)


@app.exception_handler(HTTPException)
async def refused(_request: Request, error: HTTPException) -> JSONResponse:
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


@app.exception_handler(404)
@app.exception_handler(405)
async def not_found(_request: Request, _error: Exception) -> JSONResponse:
    """Also of a path that has other methods."""
    return JSONResponse({"error": "not found"}, 404)


@app.exception_handler(Exception)
async def internal_error(_request: Request, _error: Exception) -> JSONResponse:
    """Tells nothing; uvicorn writes the cause to stderr."""
    return JSONResponse({"error": "internal error"}, 500)
