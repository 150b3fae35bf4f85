"""Calls that are made at the same time, in threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self


class Team:
    """This thread and ``n_threads - 1`` others, which start when they are first needed and wait in between."""

    def __init__(self, n_threads: int = 1) -> None:
        self.n_threads = n_threads
        self.others = ThreadPoolExecutor(n_threads - 1) if n_threads > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.others is not None:
            self.others.shutdown()

    def call(self, calls: Sequence[Callable[[], Any]]) -> list[Any]:
        """The results of the calls, of which this thread makes the first."""
        if self.others is None or not calls:
            return [call() for call in calls]
        later = [self.others.submit(call) for call in calls[1:]]
        return [calls[0](), *(each.result() for each in later)]
