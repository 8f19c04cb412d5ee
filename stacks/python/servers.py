"""Starts and stops each HTTP server. README.md lists the settings that are not defaults, and why."""

import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any

from config import Config

# How long a server may take to answer the requests in flight after the signal to stop.
GRACE_SECONDS = 4


def uvicorn(config: Config) -> None:
    """FastAPI. After a signal has stopped uvicorn, it raises that signal again; here that is a success."""
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
        timeout_keep_alive=10,
    )


def granian(config: Config) -> None:
    """Flask."""
    from granian import Granian
    from granian.constants import Interfaces
    from granian.log import LogLevels

    Granian(
        "flask_app:app",
        address=socket.gethostbyname(config.host),  # granian accepts no host names
        port=config.port,
        interface=Interfaces.WSGI,
        workers=config.workers,
        blocking_threads=4,
        log_level=LogLevels.error,
        workers_kill_timeout=GRACE_SECONDS,
    ).serve()


def bjoern(config: Config) -> None:
    """Flask. All processes accept from one socket, as in bjoern's own tests."""
    listening = listen(config)
    listening.setblocking(False)
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=bjoern_worker, args=(listening,), daemon=True) for _ in range(config.workers)]
    for worker in workers:
        worker.start()
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


def bjoern_worker(listening: socket.socket) -> None:
    """Accepts until SIGINT, and ends when all connections are closed."""
    import bjoern

    from flask_app import app

    with suppress(KeyboardInterrupt):
        bjoern.server_run(listening, app)


def waitress(config: Config) -> None:
    """Flask. This loop answers requests that wait for a thread at a stop, because Waitress's own run() drops them."""
    from waitress import wasyncore
    from waitress.server import create_server

    from flask_app import app

    logging.getLogger("waitress").setLevel(logging.ERROR)
    sockets: dict[int, Any] = {}
    server = create_server(
        app,
        map=sockets,
        host=config.host,
        port=config.port,
        asyncore_use_poll=True,
        connection_limit=10_000,
        ident=None,
        # Off, because logging fails if a client with a malformed request disconnects before the answer.
        log_socket_errors=False,
    )
    stopping = threading.Event()

    def step() -> None:
        wasyncore.loop(0.5, use_poll=True, map=sockets, count=1)

    def is_busy() -> bool:
        return any(channel.requests or channel.total_outbufs_len for channel in server.active_channels.values())

    on_signal(lambda *_: stopping.set())
    while not stopping.is_set():
        step()
    server.del_channel()
    server.socket.close()
    end = time.monotonic() + GRACE_SECONDS
    step()
    while is_busy() and time.monotonic() < end:
        step()


def listen(config: Config) -> socket.socket:
    """Raises OSError if the address or the port cannot be used."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    return socket.create_server((config.host, config.port), family=family, backlog=1024)


def on_signal(handler: Callable[..., None]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handler)


START = {"uvicorn": uvicorn, "bjoern": bjoern, "granian": granian, "waitress": waitress}
