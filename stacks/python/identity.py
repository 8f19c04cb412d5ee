"""The answer to GET /: what this server is and what it has used."""

import multiprocessing
import platform
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, astuple
from importlib.metadata import version
from typing import Any

import psutil

from config import Config


def store_of(config: Config) -> dict[str, Any]:
    """Where content items are kept, and how."""
    if config.store == "postgres":
        client, *_, pool, prepare, tx = astuple(config.postgres)
        driver = f"{client} {version(client)}"
        return {"name": "postgres", "driver": driver, "pool": pool, "prepare": prepare, "tx": tx}
    return {"name": "sqlite", "driver": f"{config.driver} {sqlite3.sqlite_version}", **asdict(config.sqlite)}


def identify(config: Config, framework: str, http_server: str, **more: Any) -> Callable[[], dict[str, Any]]:
    """Names packages, whose versions are those installed. CPU time and memory are of all processes together."""
    root = multiprocessing.parent_process() or multiprocessing.current_process()
    main = psutil.Process(root.pid)
    fixed = {
        "server": config.server,
        "runtime": {"name": "python", "version": platform.python_version()},
        "framework": {"name": framework, "version": f"{version(framework)} on {http_server} {version(http_server)}"},
        "driver": {"name": config.driver, "sqlite": sqlite3.sqlite_version},
        **more,
        "workers": config.workers,
        "pid": main.pid,
    }

    def identity() -> dict[str, Any]:
        cpu_seconds, rss_bytes = 0.0, 0
        for process in (main, *main.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # ended since
                cpu_seconds += sum(process.cpu_times()[:2])  # user and system
                rss_bytes += process.memory_info().rss
        return {
            **fixed,
            "uptimeSeconds": time.time() - main.create_time(),
            "cpuUs": round(cpu_seconds * 1e6),
            "rssBytes": rss_bytes,
        }

    return identity
