"""The same routes as directly as the documentation of each framework has them: what `./bench.sh tax` compares with."""

import json
import os
import random
import secrets
import sqlite3
import sys
import threading
from datetime import UTC, datetime
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


def contents(sql: str, *values: Any) -> sqlite3.Cursor:
    """Of content items in a file that has the table already."""
    if not hasattr(local, "contents"):
        local.contents = sqlite3.connect(os.environ["CONTENT_FILE"], isolation_level=None)
        local.contents.row_factory = dict_factory
        for pragma in ("journal_mode = wal", "synchronous = normal", "cache_size = -16000"):
            local.contents.execute(f"PRAGMA {pragma}")
    return local.contents.execute(sql, values)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def fastapi() -> Any:
    from fastapi import FastAPI, HTTPException, Request
    from fastapi.responses import HTMLResponse
    from fastapi.templating import Jinja2Templates
    from jinja2 import Environment, FileSystemLoader
    from pydantic import BaseModel

    class Draft(BaseModel):
        title: str
        body: str
        author: str
        status: str = "draft"
        data: Any = None

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

    def one(row: Row | None) -> Row:
        if row is None:
            raise HTTPException(404)
        return row | {"data": json.loads(row["data"])}

    @app.post("/content", status_code=201)
    def create(draft: Draft) -> Row:
        row = {"id": secrets.token_hex(13), **draft.model_dump(), "created_at": now()}
        row["updated_at"] = row["created_at"]
        values = (row | {"data": json.dumps(draft.data)}).values()
        contents("INSERT INTO content VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *values)
        return row

    @app.get("/content/{key}")
    def read(key: str) -> Row:
        return one(contents("SELECT * FROM content WHERE id = ?", key).fetchone())

    @app.put("/content/{key}")
    def update(key: str, draft: Draft) -> Row:
        sql = """UPDATE content SET title = ?, body = ?, author = ?, status = ?, data = ?, updated_at = ? WHERE id = ?
                 RETURNING *"""
        values = draft.title, draft.body, draft.author, draft.status, json.dumps(draft.data), now(), key
        return one(next(iter(contents(sql, *values).fetchall()), None))

    @app.delete("/content/{key}", status_code=204)
    def remove(key: str) -> None:
        if contents("DELETE FROM content WHERE id = ?", key).rowcount == 0:
            one(None)

    @app.get("/content")
    def page(after: str = "", limit: int = 20) -> dict[str, Any]:
        rows = contents("SELECT * FROM content WHERE id > ? ORDER BY id LIMIT ?", after, limit + 1).fetchall()
        last = rows[limit - 1]["id"] if len(rows) > limit else None
        return {"items": [one(row) for row in rows[:limit]], "next": last}

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
