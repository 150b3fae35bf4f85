"""One query whose lists are JSON text, such as ``["d7","d2"]``: from bytes to bytes, by compiled code alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.kernels.json_lists import DEEP, fuse_lists, write_items
from juryrank.serving.order import in_expert_order

TEXT = 1 << 18  # bytes of all lists; larger ones are decoded
PLACES = 1 << 15  # of the hash table, half of which may be used
DEPTH = 128  # ranks that have points at first
MOST_POINTS = 1 << 15  # of one set of experts
PADDING = b"\0" * 16  # ends what is read eight bytes at a time
NUMBER = 32  # bytes of a number and the comma after it
AROUND = len('{"id":"","score":},') + NUMBER
MOST_KEPT = 4 * MOST_POINTS  # of all
SIZE, LISTS, ENTRIES, BY_NAME, BEST = range(5)  # of what the kernels share


class Prepared(NamedTuple):
    """The lists of some experts: their order, the points of their ranks, and the calls of the kernels."""

    order: list[str]
    points: Floats
    fuse: Callable[[], int]
    write: Callable[[], int]


class JsonSums:
    """Sums of points by rank over lists of ids in JSON; ``points`` gives those of an expert at these ranks."""

    def __init__(self, points: Callable[[str, Floats], Floats], *, by_name: bool, room: Room) -> None:
        self._points, self._by_name, self._room = points, by_name, room
        self._prepared: dict[tuple[str, ...], Prepared | None] = {}
        self._n_kept = 0

    def __call__(self, lists: Mapping[str, Any], top: int | None = None) -> tuple[bytes, int] | None:
        """``[{"id":…,"score":…},…]``, best first, and the number of entries; None if the lists must be decoded.

        That is where ids are no text, have letters beyond ASCII or escapes, or repeat, where lists have scores, and
        where there is too much text.
        """
        experts = tuple(lists)
        prepared = self._prepared[experts] if experts in self._prepared else self._prepare(experts)
        if prepared is None:
            return None
        text = b"".join(map(lists.__getitem__, prepared.order))
        if len(text) > TEXT:
            return None
        room, shared = self._room, self._room.shared
        room.text[: len(text) + len(PADDING)] = text + PADDING
        shared[SIZE], shared[LISTS], shared[BY_NAME] = len(text), len(experts), self._by_name
        count = prepared.fuse()
        if count == DEEP and 4 * prepared.points.size <= MOST_POINTS:
            self._prepare(experts, 4 * prepared.points.shape[1])
            return self(lists, top)
        if count <= 0:
            return None
        shared[BEST] = number = count if top is None else min(top, count)
        numbers = room.encode(room.best[:number].tolist())
        room.numbers[: len(numbers)] = numbers
        return room.out[: prepared.write()].tobytes(), shared[ENTRIES]

    @property
    def prepared(self) -> list[Prepared]:
        """What is kept for the next lists of the same experts."""
        return [kept for kept in self._prepared.values() if kept is not None]

    def _prepare(self, experts: tuple[str, ...], depth: int = DEPTH) -> Prepared | None:
        """The call for lists of these experts, with points for so many ranks; None where there is none."""
        if self._n_kept > MOST_KEPT:
            self._prepared.clear()
            self._n_kept = 0
        self._n_kept += depth * max(1, len(experts))
        made = None
        if experts and depth * len(experts) <= MOST_POINTS:
            order = in_expert_order(experts) if self._by_name else list(experts)
            points = np.array([self._points(expert, np.arange(1.0, depth + 1)) for expert in order])
            calls = self._room.prepare(points)
            made = None if calls is None else Prepared(order, points, *calls)
        self._prepared[experts] = made
        return made


class Room:
    """What the kernels read and write, for all sums of a thread; ``encode`` writes numbers as a JSON list."""

    def __init__(self, encode: Callable[[list[float]], bytes]) -> None:
        most, self.encode = PLACES // 2, encode
        self._text, self._shared = np.zeros(TEXT + len(PADDING), np.uint8), np.zeros(5, np.int64)
        self._table, self._items = np.empty(PLACES, np.int32), np.empty((most, 4), np.int64)
        self._scores, self._order, self._spare = np.empty(most), np.empty(most, np.int64), np.empty(most, np.int64)
        self._numbers, self._out = np.zeros(NUMBER * most, np.uint8), np.empty(TEXT + AROUND * most + 8, np.uint8)
        self.best = np.empty(most)
        self.text, self.shared = memoryview(self._text), memoryview(self._shared)  # type: ignore[arg-type]
        self.numbers, self.out = memoryview(self._numbers), memoryview(self._out)  # type: ignore[arg-type]
        self._write = write_items.prepare(self._text, self._shared, self._items, self._numbers, self._out)

    def prepare(self, points: Floats) -> tuple[Callable[[], int], Callable[[], int]] | None:
        """The calls that fuse lists with these points, and write the items; None where there is no library."""
        fuse = fuse_lists.prepare(
            self._text, self._shared, points, self._table, self._items, self._scores, self._order, self._spare,
            self.best,
        )  # fmt: skip
        return None if fuse is None or self._write is None else (fuse, self._write)
