"""How each HTTP server is started. What is set away from its defaults is explained in README.md."""

import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from multiprocessing.connection import wait

from config import Config

IDLE_SECONDS = 10
HEADER_BYTES = 16_384
# Long enough to read what had arrived when a server is told to stop.
READ_SECONDS = 0.5
# How long what is in flight may take to end after that.
GRACE_SECONDS = 4


def uvicorn(config: Config) -> None:
    """FastAPI. Once it has ended by a signal, uvicorn raises that again: here it means success."""
    import uvicorn

    on_signal(lambda *_: sys.exit())
    uvicorn.run(
        "fastapi_app:app",
        host=config.host,
        port=config.port,
        workers=config.workers,
        access_log=False,
        log_level="error",
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=IDLE_SECONDS,
        ws="none",
    )


def granian(config: Config) -> None:
    """Flask on granian, whose processes cut connections with requests they have not read: so they wait a moment."""
    from granian import Granian
    from granian.constants import Interfaces
    from granian.http import HTTP1Settings
    from granian.log import LogLevels

    server = Granian(
        "flask_app:app",
        address=config.host,
        port=config.port,
        interface=Interfaces.WSGI,
        workers=config.workers,
        blocking_threads=4,
        http1_settings=HTTP1Settings(header_read_timeout=IDLE_SECONDS * 1000, max_buffer_size=HEADER_BYTES),
        log_level=LogLevels.error,
        workers_kill_timeout=GRACE_SECONDS,
    )

    def stop(*_: object) -> None:
        for worker in server.wrks:
            worker.interrupt_by_parent = True  # a terminal has told them as well
        time.sleep(READ_SECONDS)
        server.signal_handler_interrupt()

    server.on_startup(lambda: on_signal(stop))
    server.serve()


def bjoern(config: Config) -> None:
    """Flask on bjoern, in forks that accept from one socket, as bjoern's own tests show."""
    listening = listen(config.host, config.port)
    listening.setblocking(False)
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=bjoern_worker, args=(listening,), daemon=True) for _ in range(config.workers)]
    for worker in workers:
        worker.start()
    listening.close()
    on_signal(lambda *_: sys.exit())
    try:
        wait([worker.sentinel for worker in workers])
        sys.exit("a process of bjoern has ended")
    finally:
        for worker in workers:
            os.kill(worker.pid, signal.SIGINT)
        end = time.monotonic() + GRACE_SECONDS
        for worker in workers:
            worker.join(max(0, end - time.monotonic()))
            worker.kill()


def bjoern_worker(listening: socket.socket) -> None:
    """Accepts until SIGINT, and ends once all connections are closed."""
    import bjoern

    with suppress(KeyboardInterrupt):
        from flask import Response

        from flask_app import app

        @app.after_request
        def add_date(response: Response) -> Response:  # which bjoern leaves to the application
            response.date = datetime.now(UTC)
            return response

        bjoern.server_run(listening, app)


def waitress(config: Config) -> None:
    """Flask on waitress, with an end that answers what is in flight, which its own run() does not."""
    import logging

    from waitress import wasyncore
    from waitress.server import create_server

    from flask_app import app

    logging.getLogger("waitress").setLevel(logging.ERROR)
    sockets: dict = {}
    server = create_server(
        app,
        map=sockets,
        host=config.host,
        port=config.port,
        asyncore_use_poll=True,
        channel_timeout=IDLE_SECONDS,
        connection_limit=10_000,
        ident=None,
        # Waitress fails to log that a client has gone before its malformed request was answered.
        log_socket_errors=False,
        max_request_header_size=HEADER_BYTES,
    )
    stopping = False

    def stop(*_: object) -> None:
        nonlocal stopping
        stopping = True
        server.pull_trigger()

    def step(seconds: float) -> None:
        wasyncore.loop(seconds, use_poll=True, map=sockets, count=1)

    on_signal(stop)
    while not stopping:
        step(1)
    server.del_channel()
    server.socket.close()
    end = time.monotonic() + GRACE_SECONDS
    step(READ_SECONDS)
    while any(channel.requests or channel.total_outbufs_len for channel in server.active_channels.values()):
        if time.monotonic() > end:
            break
        step(READ_SECONDS)


def listen(host: str, port: int) -> socket.socket:
    """Raises OSError where the port or address cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=1024)


def on_signal(handler: Callable[..., None]) -> None:
    """Of those that end a server."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handler)


SERVERS = {
    "python-fastapi": uvicorn,
    "python-flask-bjoern": bjoern,
    "python-flask-granian": granian,
    "python-flask-waitress": waitress,
}
