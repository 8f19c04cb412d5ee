"""The routes in Flask."""

import os
from typing import Any

from flask import Flask, Response, render_template
from flask.json.provider import DefaultJSONProvider
from werkzeug.exceptions import HTTPException

from config import read_config
from identity import identify
from inputs import InputError
from people import People, parse_size
from sqlite import Row

SERVERS = {
    "python-flask-bjoern": "bjoern",
    "python-flask-granian": "granian",
    "python-flask-waitress": "waitress",
}


class JSONProvider(DefaultJSONProvider):
    """Flask's own without the line feed at the end; columns keep their order."""

    ensure_ascii = False
    sort_keys = False

    def response(self, *args: Any, **kwargs: Any) -> Response:
        body = self.dumps(self._prepare_response_obj(args, kwargs), separators=(",", ":"))
        return self._app.response_class(body, mimetype=self.mimetype)


config = read_config(os.environ, SERVERS)
people = People(config.db_file)
identity = identify(config, "flask", SERVERS[config.server])

app = Flask(__name__, static_folder=None)
app.json = JSONProvider(app)
app.jinja_options = {"keep_trailing_newline": True}
app.url_map.merge_slashes = False
app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False


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


@app.errorhandler(InputError)
def input_error(error: InputError) -> tuple[dict[str, str], int]:
    return {"error": str(error)}, 400


@app.errorhandler(HTTPException)
def http_error(error: HTTPException) -> tuple[dict[str, str | None], int | None]:
    """Also of a handler that fails: Flask writes the cause to stderr and makes it a 500."""
    if error.code in (404, 405):
        return {"error": "not found"}, 404
    return {"error": "internal error" if error.code == 500 else error.description}, error.code
