"""Sums of points over lists as Python has them, by compiled code; Python adds up what this leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.json_lists import DEEP
from juryrank.kernels.python_lists import fuse_python, read_python, write_python, write_ranks
from juryrank.kernels.python_objects import (
    BEST,
    BY_NAME,
    DEPTH,
    DICT_TYPE,
    ENTRIES,
    FLOAT32_TYPE,
    FLOAT64_TYPE,
    FLOAT_TYPE,
    LIST_TYPE,
    MAY_REPEAT,
    MAY_TIE,
    MISSING,
    POINTS,
    REPEATED,
    REPEATING,
    RESULT,
    SCORED,
    SIZE,
    SOURCES,
    SPACE,
    TEXT_TYPE,
    TIED,
    TOP,
    TUPLE_TYPE,
    WHOLE_TYPE,
)  # fmt: skip
from juryrank.methods.combination import ScoredEntries
from juryrank.tasks.fuse.point_tables import MOST_ENTRIES, MOST_ITEMS, PLACES, PointTable, all_memory

MOST_LISTS, MOST_RANKS = 1 << 10, 1 << 12
TYPES = {
    LIST_TYPE: list, TUPLE_TYPE: tuple, DICT_TYPE: dict, TEXT_TYPE: str, WHOLE_TYPE: int, FLOAT_TYPE: float,
    FLOAT64_TYPE: np.float64, FLOAT32_TYPE: np.float32,
}  # fmt: skip


class Found(NamedTuple):
    """The best sums, and the number of entries that repeat an item of their list, and of those without a score.

    ``repeating`` are the numbers of the lists of pairs that repeat an item; ``ranks`` those of each item by list, one
    item after another, 0 where a list does not have it.
    """

    scores: dict[Any, float]
    repeated: int
    missing: int
    repeating: list[int]
    ranks: list[int] | None


class PythonRoom:
    """The memory of the kernels, and their calls, which are None where there is no library; for one thread."""

    def __init__(self) -> None:
        memory, shape, space = all_memory("u1"), np.zeros(SIZE, np.int64), np.zeros(4 + MOST_LISTS, np.int64)
        for place, kind in TYPES.items():
            shape[place] = id(kind)
        shape[SPACE] = space.ctypes.data
        key, rank, entry_item, order, spare = np.empty((5, MOST_ENTRIES), np.int64)
        (given, best), scores = np.empty((2, MOST_ENTRIES)), np.empty(MOST_ITEMS)
        table, items = np.empty(PLACES, np.int32), np.empty((MOST_ITEMS, 5), np.int64)
        ptr, ranks = np.zeros(MOST_LISTS + 1, np.int64), np.empty(MOST_RANKS, np.int64)
        lists, sorting = (shape, space, ptr, key, given, rank, table, items, entry_item), (order, spare, best)
        self._fuse = fuse_python.prepare(memory, all_memory("f8"), *lists, scores, *sorting)
        self._read = read_python.prepare(memory, *lists, *sorting)
        self._write = write_python.prepare(memory, shape, items, scores, *sorting)
        self._write_ranks = write_ranks.prepare(shape, ptr, items, entry_item, ranks)
        self._ptr, self._given, self._entry_item, self._scores = ptr, given, entry_item, scores
        # Faster than arrays where a few numbers are written, or all are read.
        self._shape, self._ranks = memoryview(shape), memoryview(ranks)  # type: ignore[arg-type]
        self._kinds = memoryview(space)[4:]  # type: ignore[arg-type]
        self._in_use = False

    def add_up(
        self,
        sources: tuple[Any, ...],
        table: PointTable,
        top: int | None,
        *,
        by_name: bool,
        may_tie: bool,
        may_repeat: bool,
        ranks: bool = False,
    ) -> Found | Literal["deep"] | None:
        """The ``top`` sums of the points of different items; "deep" where a list has more entries than points.

        None where Python must add up: where there is no library, no entry or too many, and where objects are not of
        the usual types, ids of several types, or scores tie or items repeat where they may not.
        """
        if self._fuse is None or self._in_use:
            return None
        self._in_use = True  # a signal handler may fuse lists, too, in the middle of this
        try:
            scores: dict[Any, float] = {}
            shape = self._tell(sources, scores, top, by_name, may_tie, may_repeat)
            shape[POINTS], shape[DEPTH] = table.position, table.depth
            count = self._fuse()
            if count <= 0:
                return "deep" if count == DEEP else None
            repeating = [l for l in range(len(sources)) if self._kinds[l] == REPEATING] if shape[REPEATED] else []
            found = self._ranks_of(len(sources)) if ranks else None
            return Found(scores, shape[REPEATED], shape[MISSING], repeating, found)
        except (OverflowError, UnicodeEncodeError):  # large whole numbers, and half of a pair of surrogates
            return None
        finally:
            self._in_use = False

    def combine(
        self, sources: tuple[Any, ...], combine: Callable[[ScoredEntries, Ints], Floats | None], top: int | None
    ) -> Found | None:
        """The ``top`` items with the scores that ``combine`` gives to all; equal scores go by id.

        ``combine`` gets the entries and the number of each one's item. None where it gives none, where a list is empty
        or has no scores, and as for ``add_up``.
        """
        if self._read is None or self._write is None or self._in_use:
            return None
        self._in_use = True
        try:
            scores: dict[Any, float] = {}
            shape = self._tell(sources, scores, top, True, True, False)
            count = self._read()
            if count <= 0 or shape[SCORED] < len(sources):
                return None
            n_entries = shape[ENTRIES]
            entries = ScoredEntries(self._given[:n_entries], self._ptr[: len(sources) + 1], count, bool(shape[TIED]))
            if (combined := combine(entries, self._entry_item[:n_entries])) is None:
                return None
            self._scores[:count] = combined
            self._write()
            return Found(scores, 0, shape[MISSING], [], None)
        except (OverflowError, UnicodeEncodeError):
            return None
        finally:
            self._in_use = False

    def _tell(
        self, sources: tuple[Any, ...], result: dict[Any, float], top: int | None, *rules: bool
    ) -> memoryview[int]:
        """Write what the kernels are to do; the rules are by name, may tie and may repeat."""
        shape = self._shape
        shape[SOURCES], shape[RESULT] = id(sources), id(result)
        shape[TOP] = MOST_ITEMS if top is None else min(top, MOST_ITEMS)
        shape[BY_NAME], shape[MAY_TIE], shape[MAY_REPEAT] = rules
        return shape

    def _ranks_of(self, n_lists: int) -> list[int] | None:
        """The ranks of the items just found; None where lists have scores or repeat an item, or there are too many."""
        shape = self._shape
        size = shape[BEST] * n_lists
        if shape[REPEATED] or shape[SCORED] or size > MOST_RANKS or self._write_ranks is None:
            return None
        self._write_ranks()
        return self._ranks[:size].tolist()


class _OfThread(threading.local):
    room: PythonRoom | None = None


_OF_THREAD = _OfThread()


def room_of_thread() -> PythonRoom:
    """The memory of this thread."""
    if (room := _OF_THREAD.room) is None:
        room = _OF_THREAD.room = PythonRoom()
    return room
