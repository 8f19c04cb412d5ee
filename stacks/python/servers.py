"""How each HTTP server is started and stopped. README.md says what is set away from its defaults, and why."""

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

HEADER_BYTES = 16_384
# Long enough to read requests that had arrived before the signal.
READ_SECONDS = 0.5
# How long a server may take after that to answer what is in flight.
GRACE_SECONDS = 4


def uvicorn(config: Config) -> None:
    """FastAPI. After its end by a signal, uvicorn raises that signal again: here it means success."""
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
    """Flask. A worker that is told to stop closes connections whose request it has not read, so it is told later."""
    from granian import Granian
    from granian.constants import Interfaces
    from granian.http import HTTP1Settings
    from granian.log import LogLevels

    server = Granian(
        "flask_app:app",
        address=socket.gethostbyname(config.host),  # it takes no names
        port=config.port,
        interface=Interfaces.WSGI,
        workers=config.workers,
        blocking_threads=4,
        http1_settings=HTTP1Settings(max_buffer_size=HEADER_BYTES),
        log_level=LogLevels.error,
        workers_kill_timeout=GRACE_SECONDS,
    )

    def stop(*_: object) -> None:
        time.sleep(READ_SECONDS)
        server.signal_handler_interrupt()

    server.on_startup(lambda: on_signal(stop))
    server.serve()


def bjoern(config: Config) -> None:
    """Flask, in processes that accept from one socket, as in bjoern's own tests."""
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
    """Flask. Waitress's own run() drops requests that wait for a thread when it is told to stop, so this loop waits."""
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
        # Waitress fails to log that a client has gone before its malformed request was answered.
        log_socket_errors=False,
        max_request_header_size=HEADER_BYTES,
    )
    stopping = threading.Event()

    def stop(*_: object) -> None:
        stopping.set()
        server.pull_trigger()

    def step() -> None:
        wasyncore.loop(READ_SECONDS, use_poll=True, map=sockets, count=1)

    def is_busy() -> bool:
        return any(channel.requests or channel.total_outbufs_len for channel in server.active_channels.values())

    on_signal(stop)
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
