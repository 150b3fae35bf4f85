"""Sums of points over lists of names by compiled code; Python adds up what this leaves.

The names become one text, ``["d7","d2"]["d2"]``, because compiled code cannot look into Python's objects. Names that
would not be read back as they are (quotes, backslashes, letters beyond ASCII) are noticed and left.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from math import inf
from operator import is_, itemgetter
from typing import Any, Literal

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.kernels.json_lists import (
    BEST,
    BY_NAME,
    ENTRIES,
    GIVEN,
    LISTS,
    MAY_REPEAT,
    REPEATED,
    SCORED,
    SIZE,
    UNSORTED,
    write_ranks,
)
from juryrank.serving.room import MOST_ENTRIES, PADDING, Room

MOST_LISTS, MOST_RANKS = 1 << 10, 1 << 12
Sums = tuple[dict[Any, float], int, list[int] | None]
END = '"]' + PADDING.decode()


class NameRoom(Room):
    """With the points of all entries, one list after another; they stay for lists of the same sizes and points.

    And with the scores of lists that have some, those of each between plus and minus infinity.
    """

    def __init__(self) -> None:
        super().__init__()
        given = np.empty(MOST_ENTRIES + 2 * MOST_LISTS)
        self.given = memoryview(given).cast("B")  # type: ignore[arg-type]
        self.points, self.starts = np.empty(MOST_ENTRIES), np.zeros(MOST_LISTS + 1, np.int64)
        self.start_of = memoryview(self.starts)  # type: ignore[arg-type]
        self.fuse = self.prepare(self.starts, self.points, given)
        ranks = np.empty(MOST_RANKS, np.int64)
        self.ranks = memoryview(ranks)  # type: ignore[arg-type]
        self.write_ranks = write_ranks.prepare(self._shared, self.starts, self._items, self._entry_item, ranks)
        self.in_use = False
        self._sizes: list[int] = []
        self._points_of: Sequence[Sequence[float] | Floats] = ()

    def fill(self, sizes: list[int], points: Sequence[Sequence[float] | Floats]) -> None:
        """Write the points of lists of these sizes."""
        if sizes == self._sizes and all(map(is_, points, self._points_of)):
            return
        self._sizes, stop = [], 0
        for l, size in enumerate(sizes):
            start, stop = stop, stop + size
            self.points[start:stop] = points[l][:size]
            self.start_of[l + 1] = stop
        self._sizes, self._points_of = sizes, points


@lru_cache(maxsize=4096)
def packer(size: int) -> Callable[..., None]:
    """Writes so many numbers into memory, the fastest way from Python's numbers to an array.

    A ``struct.error`` for what is no number.
    """
    return struct.Struct(f"{size}d").pack_into


class _OfThread(threading.local):
    room: NameRoom | None = None


_OF_THREAD = _OfThread()


def sum_names(
    lists: Sequence[Sequence[Any]],
    points: Sequence[Sequence[float] | Floats],
    top: int | None,
    *,
    by_name: bool,
    may_repeat: bool,
    scores: Sequence[Collection[float]] = (),
    ranks: bool = False,
) -> Sums | Literal["unsorted"] | None:
    """The ``top`` sums of the points of different names, best first, and the number of entries that repeat a name.

    With ``ranks``, and if no name repeats, also the rank of each name by list, one name after another, 0 where a list
    does not have it; without, and where there are too many, None.

    A list has at least as many points as entries. "unsorted" where the ``scores`` of a list are not finite, or one is
    not larger than the next. None where Python must add up: where there is no library, and for items that are no plain
    text, names that repeat in a list unless they may, no entries, and too many.
    """
    if (room := _OF_THREAD.room) is None:
        room = _OF_THREAD.room = NameRoom()
    if room.fuse is None or room.in_use or len(lists) > MOST_LISTS:
        return None
    room.in_use = True  # a signal handler may fuse lists, too, in the middle of this
    try:
        return _sum_in(room, lists, points, top, by_name, may_repeat, scores, ranks)
    except (TypeError, UnicodeEncodeError, struct.error):  # items that are no text, letters beyond ASCII, no numbers
        return None
    finally:
        room.in_use = False


def _sum_in(
    room: NameRoom,
    lists: Sequence[Sequence[Any]],
    points: Sequence[Sequence[float] | Floats],
    top: int | None,
    by_name: bool,
    may_repeat: bool,
    scores: Sequence[Collection[float]],
    ranks: bool,
) -> Sums | Literal["unsorted"] | None:
    text = ('["' + '"]["'.join(map('","'.join, lists)) + END).encode("ascii")
    entries: list[Any] = []
    for items in lists:
        entries += items
    if len(entries) > MOST_ENTRIES or len(text) > len(room.text):
        return None
    room.fill(list(map(len, lists)), points)
    room.text[: len(text)] = text
    shared = room.shared
    shared[SIZE], shared[LISTS] = len(text) - len(PADDING), len(lists)
    shared[BY_NAME], shared[MAY_REPEAT] = by_name, may_repeat
    stop = 0
    for own in scores:
        size = len(own) + 2
        packer(size)(room.given, 8 * stop, inf, *own, -inf)
        stop += size
    shared[GIVEN], shared[SCORED] = stop, len(scores)
    assert room.fuse is not None
    count = room.fuse()
    if count == UNSORTED:
        return "unsorted"
    if count <= 0 or shared[ENTRIES] != len(entries):  # a name with a quote is not what was given
        return None
    if top is not None:
        count = min(count, top)
    first = room.first_entry[:count].tolist()
    best = itemgetter(*first)(entries) if count > 1 else (entries[first[0]],)  # faster than one by one
    found = None
    if ranks and not shared[REPEATED] and count * len(lists) <= MOST_RANKS and room.write_ranks is not None:
        shared[BEST] = count
        room.write_ranks()
        found = room.ranks[: count * len(lists)].tolist()
    return dict(zip(best, room.best[:count].tolist())), shared[REPEATED], found  # noqa: B905 (strict costs time)
