"""The memory in which compiled code adds up lists that are text: made once, and used for one query after another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.json_lists import fuse_lists

MOST_BYTES = 1 << 18  # of the text of all lists
MOST_ENTRIES = 1 << 15  # that have points
PLACES = 1 << 15  # of the hash table, half of which may be used
NO_SCORES = np.empty(0)
PADDING = b"\0" * 16  # ends what is read eight bytes at a time


class Room:
    """What the kernels read and write; only one thread may use it at a time."""

    def __init__(self) -> None:
        most = PLACES // 2
        self._text, self._shared = np.zeros(MOST_BYTES + len(PADDING), np.uint8), np.zeros(9, np.int64)
        self._table, self._items = np.empty(PLACES, np.int32), np.empty((most, 5), np.int64)
        self._entry_item = np.empty(MOST_ENTRIES, np.int64)
        self._scores, self._order, self._spare = np.empty(most), np.empty(most, np.int64), np.empty(most, np.int64)
        self._best = np.empty(most)
        # Faster than arrays where a few numbers or bytes are written, or all are read.
        self.text, self.shared = memoryview(self._text), memoryview(self._shared)  # type: ignore[arg-type]
        self.best: Any = memoryview(self._best)  # type: ignore[arg-type]  # mypy takes its numbers to be whole
        self.first_entry = memoryview(self._order)  # type: ignore[arg-type]

    def prepare(self, starts: Ints, points: Floats, given: Floats = NO_SCORES) -> Callable[[], int] | None:
        """The call that fuses lists with these points, and the scores ``given``; None where there is no library."""
        return fuse_lists.prepare(
            self._text, self._shared, given, starts, points, self._table, self._items, self._entry_item,
            self._scores, self._order, self._spare, self._best,
        )  # fmt: skip
