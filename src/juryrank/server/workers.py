"""Several workers: each is a new process that accepts from one socket, and is replaced when it dies."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from typing import Any

from juryrank.errors import DataError
from juryrank.server.connections import ACCEPT_SECONDS, refuse_connections
from juryrank.server.logs import log
from juryrank.server.telemetry import SIZE

SHORT_LIFE = 5.0  # seconds; a worker that lives no longer than this has not started
SLOW_START = 60.0  # seconds; one that ends by an error has not started if it lives no longer than this
MOST_SHORT_LIVES = 5  # in a row, after which the service gives up
PATIENCE = 10.0  # seconds, beyond the time for requests under way, until a worker is killed

Work = Callable[[Any, socket.socket, Any, int], None]


class Supervisor:
    """Starts workers, replaces those that die, and ends them; it does no other work that could fail."""

    def __init__(self, work: Work, settings: Any, listener: socket.socket) -> None:
        self._work, self._settings, self._listener = work, settings, listener
        self._context = multiprocessing.get_context("spawn")
        # The memory ends with the last process that has it; there is no file that a kill could leave behind.
        self._counts = self._context.RawArray("d", SIZE * settings.workers)
        self._processes: dict[SpawnProcess, tuple[int, float]] = {}  # their numbers, and when they started
        self._short_lives = 0
        self._reader, self._writer = os.pipe()

    def run(self) -> None:
        """Run until SIGTERM or SIGINT, or until workers cannot be started."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: os.write(self._writer, b"x"))
        for worker in range(self._settings.workers):
            self._start(worker)
        try:
            while self._reader not in wait([*(each.sentinel for each in self._processes), self._reader]):
                self._replace_dead()
        finally:
            self._end()

    def _start(self, worker: int) -> None:
        args = self._work, self._settings, self._listener, self._counts, worker
        process = self._context.Process(target=_worker, args=args, name="juryrank-worker")
        process.start()
        self._processes[process] = worker, time.monotonic()

    def _replace_dead(self) -> None:
        for process, (worker, started) in list(self._processes.items()):
            if process.is_alive():
                continue
            del self._processes[process]
            log.error("worker %d died with the exit code %s; another is started", process.pid, process.exitcode)
            short = time.monotonic() - started < (SLOW_START if (process.exitcode or 0) > 0 else SHORT_LIFE)
            self._short_lives = self._short_lives + 1 if short else 0
            if self._short_lives >= MOST_SHORT_LIVES:
                raise DataError("workers die when they start; the log has the reason")
            self._start(worker)

    def _end(self) -> None:
        """The workers take the connections that are being made, and then end by themselves."""
        refuse_connections(self._listener)
        time.sleep(ACCEPT_SECONDS)
        self._listener.close()
        for process in self._processes:
            process.terminate()
        end = time.monotonic() + self._settings.shutdown_seconds + PATIENCE
        for process in self._processes:
            process.join(max(0.0, end - time.monotonic()))
            if process.is_alive():
                log.error("worker %d does not end and is killed", process.pid)
                process.kill()
                process.join()


def _worker(work: Work, settings: Any, listener: socket.socket, counts: Any, worker: int) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    work(settings, listener, counts, worker)


def _end_with_parent() -> None:
    """End this worker when its supervisor has been killed: nobody would replace or end it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
