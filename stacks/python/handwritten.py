"""The same routes as directly as the documentation of each framework has them: what `./bench.sh tax` compares with."""

import os
import random
import sqlite3
import sys
import threading
from pathlib import Path
from typing import Any

FILE = f"{Path(os.environ.get('DB_FILE', 'data.db')).absolute().as_uri()}?mode=ro"
PORT = int(os.environ.get("PORT", "3000"))
Row = dict[str, Any]

local = threading.local()


def dict_factory(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> Row:
    return dict(zip((column[0] for column in cursor.description), row, strict=True))


def random_rows(table: str, size: int) -> list[Row]:
    if not hasattr(local, "connection"):
        local.connection = sqlite3.connect(FILE, uri=True)
        local.connection.row_factory = dict_factory
        local.connection.execute("PRAGMA cache_size = -16000")
    sql = f"SELECT * FROM {table} WHERE id = ?"
    return [local.connection.execute(sql, (random.randint(1, 100_000),)).fetchone() for _ in range(size)]


def fastapi() -> Any:
    from fastapi import FastAPI, Request
    from fastapi.responses import HTMLResponse
    from fastapi.templating import Jinja2Templates
    from jinja2 import Environment, FileSystemLoader

    app = FastAPI()
    views = FileSystemLoader(Path(__file__).with_name("templates"))
    templates = Jinja2Templates(env=Environment(loader=views, autoescape=True, keep_trailing_newline=True))

    @app.get("/")
    async def root() -> dict[str, str]:
        return {"server": "fastapi"}

    @app.get("/plain")
    async def plain() -> dict[str, str]:
        return {"message": "Hello, world!"}

    @app.get("/html-template")
    async def html_template(request: Request) -> HTMLResponse:
        return templates.TemplateResponse(request, "hi.html", {"name": "Ben"})

    @app.get("/sqlite/random-5fields/{size}")
    def random_5fields(size: int) -> list[Row]:
        return random_rows("person5", size)

    @app.get("/sqlite/random-30fields/{size}")
    def random_30fields(size: int) -> list[Row]:
        return random_rows("person30", size)

    return app


def flask() -> Any:
    from flask import Flask, Response, render_template
    from flask.json.provider import DefaultJSONProvider

    class WithoutLineFeed(DefaultJSONProvider):
        sort_keys = False
        ensure_ascii = False

        def response(self, *args: Any, **kwargs: Any) -> Response:
            body = self.dumps(self._prepare_response_obj(args, kwargs), separators=(",", ":"))
            return app.response_class(body, mimetype=self.mimetype)

    app = Flask(__name__, static_folder=None)
    app.json = WithoutLineFeed(app)
    app.jinja_options = {"keep_trailing_newline": True}

    @app.get("/")
    def root() -> dict[str, str]:
        return {"server": "flask"}

    @app.get("/plain")
    def plain() -> dict[str, str]:
        return {"message": "Hello, world!"}

    @app.get("/html-template")
    def html_template() -> str:
        return render_template("hi.html", name="Ben")

    @app.get("/sqlite/random-5fields/<int:size>")
    def random_5fields(size: int) -> list[Row]:
        return random_rows("person5", size)

    @app.get("/sqlite/random-30fields/<int:size>")
    def random_30fields(size: int) -> list[Row]:
        return random_rows("person30", size)

    return app


if __name__ == "__main__":
    match sys.argv[1]:
        case "uvicorn":
            import uvicorn

            uvicorn.run(fastapi(), port=PORT, access_log=False, log_level="error")
        case "bjoern":
            import bjoern

            bjoern.run(flask(), "127.0.0.1", PORT)
        case "granian":
            from granian import Granian
            from granian.constants import Interfaces
            from granian.log import LogLevels

            Granian(
                "handwritten:flask",
                factory=True,
                interface=Interfaces.WSGI,
                port=PORT,
                blocking_threads=4,
                log_level=LogLevels.error,
            ).serve()
        case "waitress":
            import waitress

            waitress.serve(flask(), host="127.0.0.1", port=PORT)
