"""Start the service: check the settings and the store, then start the workers."""

from __future__ import annotations

import os
import signal
import socket
from typing import Any

import uvicorn

from juryrank.errors import DataError
from juryrank.server import logs
from juryrank.server.connections import MOST_HEAD, Connection, Server
from juryrank.server.keys import read_keys
from juryrank.server.logs import log
from juryrank.server.problems import Problem
from juryrank.server.registry import Registry
from juryrank.server.settings import Settings
from juryrank.server.store_address import address_of, make_store
from juryrank.server.workers import Supervisor

KEEP_ALIVE_SECONDS = 75


def run(settings: Settings) -> None:
    """Serve until a signal ends it."""
    settings.demand_safe()
    logs.configure(settings.log_level)
    registry = Registry(settings.models, keep=settings.versions, largest=settings.max_model)
    registry.faults()  # are logged
    if settings.keys is not None:
        read_keys(settings.keys)
    check_store(settings)
    listener = listen(settings)
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    log.info("listening on http://%s:%d, models: %s", shown, port, ", ".join(registry.names()) or "none")
    serve(settings, listener)


def check_store(settings: Settings) -> None:
    """Create the store if it is missing; a DataError if it cannot be used."""
    if (address := address_of(settings)) is None:
        return
    try:
        with make_store(address, settings.store_seconds):
            pass
    except Problem as problem:
        raise DataError(f"the store of feedback cannot be used: {problem.__cause__ or problem}") from None


def listen(settings: Settings) -> socket.socket:
    """The socket that all workers accept from."""
    try:
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        return socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        reason = (
            os.strerror(number) if isinstance(number := getattr(error, "errno", None), int) and number > 0 else error
        )
        raise DataError(f"cannot listen on {settings.host}:{settings.port}: {reason}; choose another --port") from None


def serve(settings: Settings, listener: socket.socket) -> None:
    """Run one server in this process, or several below a supervisor that starts one anew when it dies."""
    signal.set_wakeup_fd(-1)  # of the command line, which ends a process soon after Ctrl-C
    if settings.workers == 1:
        work(settings, listener)
    else:
        Supervisor(work, settings, listener).run()


def _exit(*_: object) -> None:
    """The end by a signal that was asked for is no failure."""
    raise SystemExit(0)


def work(settings: Settings, listener: socket.socket, counts: Any = None, worker: int = 0) -> None:
    """Answer requests until a signal ends it; ``counts`` is the memory in which several workers count."""
    signal.signal(signal.SIGTERM, _exit)
    logs.configure(settings.log_level)
    from juryrank.server.app import create_app
    from juryrank.server.telemetry import Metrics

    Connection.most_bytes = 2 * max(settings.max_body, settings.max_model) + MOST_HEAD
    app = create_app(settings, Metrics(counts, worker))
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, date_header=False,
        proxy_headers=False, http=Connection, ws="none", lifespan="on", timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=int(settings.shutdown_seconds),
    )  # fmt: skip
    Server(config, alone=settings.workers == 1).run([listener])
