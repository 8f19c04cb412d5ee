"""The routes in Flask."""

import os
import time
from functools import lru_cache
from typing import Any

from flask import Flask, Response, render_template
from werkzeug.exceptions import HTTPException
from werkzeug.http import http_date

from config import read_config
from identity import identify
from people import People, Row, SizeError, parse_size

config = read_config(os.environ)
people = People(config.db_file)
identity = identify(config)

app = Flask(__name__, static_folder=None)
app.jinja_options = {"keep_trailing_newline": True}
app.json.ensure_ascii = False
app.json.sort_keys = False


@app.get("/")
def root() -> dict[str, Any]:
    return identity()


@app.get("/plain")
def plain() -> dict[str, str]:
    return {"message": "Hello, world!"}


@app.get("/html-template")
def html_template() -> str:
    return render_template("hi.html", name="Ben")


@app.get("/sqlite/random-5fields/<size>")
def random_5fields(size: str) -> list[Row]:
    return people.random_rows("person5", parse_size(size))


@app.get("/sqlite/random-30fields/<size>")
def random_30fields(size: str) -> list[Row]:
    return people.random_rows("person30", parse_size(size))


@app.errorhandler(SizeError)
def bad_size(error: SizeError) -> tuple[dict[str, str], int]:
    return {"error": str(error)}, 400


@app.errorhandler(HTTPException)
def http_error(error: HTTPException) -> tuple[dict[str, str | None], int | None]:
    """Also answers if a handler fails: Flask writes the cause to stderr and makes the error a 500."""
    if error.code in (404, 405):
        return {"error": "not found"}, 404
    return {"error": "internal error" if error.code == 500 else error.description}, error.code


@lru_cache(maxsize=1)
def date_of(second: int) -> str:
    return http_date(second)


if config.http_server == "bjoern":  # the only one that sends no Date header

    @app.after_request
    def add_date(response: Response) -> Response:
        response.headers["Date"] = date_of(int(time.time()))
        return response
