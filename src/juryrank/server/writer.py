"""The thread that writes feedback: what waits is stored in one transaction, so that one fsync serves many requests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import NamedTuple

from juryrank.server.problems import Problem
from juryrank.server.store import Outcome, Row, Store

MOST_ROWS = 2000  # of one transaction, beyond which no further request joins it


class Waiting(NamedTuple):
    """The rows of a request that waits for its outcome."""

    rows: Sequence[Row]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Outcome]

    def settle(self, outcome: Outcome | Exception) -> None:
        """Hand the outcome to the request, in its event loop."""
        self.loop.call_soon_threadsafe(self._settle, outcome)

    def _settle(self, outcome: Outcome | Exception) -> None:
        if self.future.done():
            return  # the request was cancelled
        if isinstance(outcome, Exception):
            self.future.set_exception(outcome)
        else:
            self.future.set_result(outcome)


class Writer:
    """Stores feedback for one worker; ``close`` returns when everything that was accepted has been stored."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._queue: SimpleQueue[Waiting | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._is_closed = False

    async def add(self, rows: Sequence[Row]) -> Outcome:
        """Store rows; when this returns, they are on the disk."""
        if self._is_closed:
            raise Problem(503, "the service is shutting down; try again", headers={"retry-after": "1"})
        if self._thread is None:
            self._thread = Thread(target=self._run, name="feedback", daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        waiting = Waiting(rows, loop, loop.create_future())
        self._queue.put(waiting)
        return await waiting.future

    def close(self) -> None:
        """Store what waits, and end the thread."""
        self._is_closed = True
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()

    def _run(self) -> None:
        ending = False
        while not ending:
            first = self._queue.get()
            if first is None:
                break
            group, size = [first], len(first.rows)
            while size < MOST_ROWS:
                try:
                    waiting = self._queue.get_nowait()
                except Empty:
                    break
                if waiting is None:
                    ending = True
                    break
                group.append(waiting)
                size += len(waiting.rows)
            self._store_group(group)
        self._store.close()

    def _store_group(self, group: list[Waiting]) -> None:
        outcomes: Sequence[Outcome | Exception]
        try:
            outcomes = self._store.add([waiting.rows for waiting in group])
        except Exception as error:
            outcomes = [error] * len(group)
        for waiting, outcome in zip(group, outcomes, strict=True):
            waiting.settle(outcome)
