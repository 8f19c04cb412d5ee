"""The answer to GET /: versions and settings of this server, its CPU time and its memory."""

import multiprocessing
import platform
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import psutil
import pysqlite3 as sqlite3

from config import Config


def identify(config: Config) -> Callable[[], dict[str, Any]]:
    """CPU time and memory are the sums of all processes."""
    root = multiprocessing.parent_process() or multiprocessing.current_process()
    main = psutil.Process(root.pid)
    framework, http_server, postgres = config.framework, config.http_server, config.postgres
    fixed = {
        "server": config.server,
        "runtime": {"name": "python", "version": platform.python_version()},
        "framework": {"name": framework, "version": f"{version(framework)} on {http_server} {version(http_server)}"},
        "driver": {"name": config.driver, "sqlite": sqlite3.sqlite_version},
        "workers": config.workers,
        "pid": main.pid,
    }
    if postgres:
        driver = f"{postgres.client} {version(postgres.client)}"
        settings = {"pool": postgres.pool, "prepare": postgres.prepare, "tx": postgres.tx}
        fixed["store"] = {"name": "postgres", "driver": driver, **settings}

    def identity() -> dict[str, Any]:
        cpu_seconds, rss_bytes = 0.0, 0
        for process in (main, *main.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # the process has ended meanwhile
                cpu_seconds += sum(process.cpu_times()[:2])  # user and system
                rss_bytes += process.memory_info().rss
        return {
            **fixed,
            "uptimeSeconds": time.time() - main.create_time(),
            "cpuUs": round(cpu_seconds * 1e6),
            "rssBytes": rss_bytes,
        }

    return identity
