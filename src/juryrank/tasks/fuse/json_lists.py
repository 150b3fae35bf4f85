"""One query whose lists are JSON text, such as ``["d7","d2"]``: from bytes to bytes, by compiled code alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.kernels.json_lists import (
    BEST,
    BY_NAME,
    DEEP,
    DEPTH,
    ENTRIES,
    LISTS,
    POINTS,
    SIZE,
    fuse_lists,
    write_items,
)
from juryrank.tasks.fuse.point_tables import MOST_ITEMS, PLACES, PointTables, all_memory

MOST_BYTES = 1 << 18  # of the text of all lists
PADDING = b"\0" * 16  # ends what is read eight bytes at a time
NUMBER = 32  # bytes of a number and the comma after it
AROUND = len('{"id":"","score":},') + NUMBER


class JsonSums:
    """Sums of points by rank over lists of ids in JSON; ``points`` gives those of an expert at these ranks."""

    def __init__(self, points: Callable[[str, Floats], Floats], *, by_name: bool, room: JsonRoom) -> None:
        self._by_name, self._room = by_name, room
        self.tables = PointTables(points, by_name=by_name)

    def __call__(self, lists: Mapping[str, Any], top: int | None = None) -> tuple[bytes, int] | None:
        """``[{"id":…,"score":…},…]``, best first, and the number of entries; None if the lists must be decoded.

        That is where ids are no text, have letters beyond ASCII or escapes, or repeat, where lists have scores, and
        where there is too much text.
        """
        experts, room = tuple(lists), self._room
        if (table := self.tables(experts)) is None or room.fuse is None:
            return None
        text = b"".join(map(lists.__getitem__, table.order))
        if len(text) > MOST_BYTES:
            return None
        shared = room.shared
        room.text[: len(text) + len(PADDING)] = text + PADDING
        shared[SIZE], shared[LISTS], shared[BY_NAME] = len(text), len(experts), self._by_name
        shared[POINTS], shared[DEPTH] = table.position, table.depth
        count = room.fuse()
        if count == DEEP and self.tables.deepen(experts, table) is not None:
            return self(lists, top)
        if count <= 0:
            return None
        shared[BEST] = number = count if top is None else min(top, count)
        return room.write(room.scores[:number].tolist()), shared[ENTRIES]


class JsonRoom:
    """What the kernels read and write; only one thread may use it. ``encode`` writes numbers as a JSON list."""

    def __init__(self, encode: Callable[[Sequence[float]], bytes]) -> None:
        most, self._encode = MOST_ITEMS, encode
        text, shared = np.zeros(MOST_BYTES + len(PADDING), np.uint8), np.zeros(7, np.int64)
        table, items = np.empty(PLACES, np.int32), np.empty((most, 5), np.int64)
        (order, spare), (sums, best) = np.empty((2, most), np.int64), np.empty((2, most))
        numbers, out = np.zeros(NUMBER * most, np.uint8), np.empty(MOST_BYTES + AROUND * most + 8, np.uint8)
        # Faster than arrays where parts are read and written.
        self.text, self.shared = memoryview(text), memoryview(shared)  # type: ignore[arg-type]
        self.scores: Any = memoryview(best)  # type: ignore[arg-type]  # mypy takes its numbers to be whole
        self._memory: memoryview[int] = memoryview(numbers)  # type: ignore[arg-type]
        self._written: memoryview[int] = memoryview(out)  # type: ignore[arg-type]
        self._write = write_items.prepare(text, shared, items, numbers, out)
        fuse = fuse_lists.prepare(text, all_memory("f8"), shared, table, items, sums, order, spare, best)
        self.fuse = None if self._write is None else fuse

    def write(self, scores: Sequence[float]) -> bytes:
        """The items with these scores, the best, as JSON."""
        numbers = self._encode(scores)
        self._memory[: len(numbers)] = numbers
        assert self._write is not None  # there is no call without both
        return self._written[: self._write()].tobytes()
