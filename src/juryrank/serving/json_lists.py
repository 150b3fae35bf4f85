"""One query whose lists are JSON text, such as ``["d7","d2"]``: from bytes to bytes, by compiled code alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.json_lists import BEST, BY_NAME, DEEP, ENTRIES, LISTS, SIZE, write_items
from juryrank.serving.order import in_expert_order
from juryrank.serving.room import MOST_BYTES, MOST_ENTRIES, NO_SCORES, PADDING, PLACES, Room

DEPTH = 128  # ranks that have points at first
NUMBER = 32  # bytes of a number and the comma after it
AROUND = len('{"id":"","score":},') + NUMBER
MOST_KEPT = 4 * MOST_ENTRIES  # points of all sets of experts


class Prepared(NamedTuple):
    """The lists of some experts: their order, the points of their ranks, one expert after another, and the call."""

    order: list[str]
    starts: Ints
    points: Floats
    fuse: Callable[[], int]


class JsonSums:
    """Sums of points by rank over lists of ids in JSON; ``points`` gives those of an expert at these ranks."""

    def __init__(self, points: Callable[[str, Floats], Floats], *, by_name: bool, room: JsonRoom) -> None:
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
        if len(text) > MOST_BYTES:
            return None
        room, shared = self._room, self._room.shared
        room.text[: len(text) + len(PADDING)] = text + PADDING
        shared[SIZE], shared[LISTS], shared[BY_NAME] = len(text), len(experts), self._by_name
        count = prepared.fuse()
        if count == DEEP and 4 * prepared.points.size <= MOST_ENTRIES:
            self._prepare(experts, 4 * int(prepared.starts[1]))
            return self(lists, top)
        if count <= 0:
            return None
        shared[BEST] = number = count if top is None else min(top, count)
        return room.write(room.scores[:number].tolist()), shared[ENTRIES]

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
        if experts and depth * len(experts) <= MOST_ENTRIES:
            order = in_expert_order(experts) if self._by_name else list(experts)
            points = np.concatenate([self._points(expert, np.arange(1.0, depth + 1)) for expert in order])
            starts = depth * np.arange(len(order) + 1)
            fuse = self._room.prepare(starts, points)
            made = None if fuse is None else Prepared(order, starts, points, fuse)
        self._prepared[experts] = made
        return made


class JsonRoom(Room):
    """With what the answer is written to; ``encode`` writes numbers as a JSON list."""

    def __init__(self, encode: Callable[[Sequence[float]], bytes]) -> None:
        super().__init__()
        most, self._encode = PLACES // 2, encode
        self._numbers, self._out = np.zeros(NUMBER * most, np.uint8), np.empty(MOST_BYTES + AROUND * most + 8, np.uint8)
        # Faster than arrays where parts are read and written.
        self.scores: memoryview[float] = memoryview(self.best)
        self._memory: memoryview[int] = memoryview(self._numbers)  # type: ignore[arg-type]
        self._written: memoryview[int] = memoryview(self._out)  # type: ignore[arg-type]
        self._write = write_items.prepare(self._text, self._shared, self._items, self._numbers, self._out)

    def write(self, scores: Sequence[float]) -> bytes:
        """The items with these scores, the best, as JSON."""
        numbers = self._encode(scores)
        self._memory[: len(numbers)] = numbers
        assert self._write is not None  # there is no call without both
        return self._written[: self._write()].tobytes()

    def prepare(self, starts: Ints, points: Floats, given: Floats = NO_SCORES) -> Callable[[], int] | None:
        return None if self._write is None else super().prepare(starts, points, given)
