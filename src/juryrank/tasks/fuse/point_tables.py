"""Points by rank for the lists of several experts, kept for the next lists of the same experts; limits of memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats
from juryrank.kernels.python_objects import BASE
from juryrank.tasks.fuse.order import in_expert_order

MOST_ENTRIES = 1 << 15  # that have points
PLACES = 1 << 15  # of the hash table, half of which may be used
MOST_ITEMS = PLACES // 2
DEPTH = 128  # ranks that have points at first
MOST_KEPT = 4 * MOST_ENTRIES  # points of all tables: names of experts may come from strangers


def all_memory(kind: str) -> NDArray[Any]:
    """The memory of this process from BASE on: kernels find there what they have the address of."""

    class Memory:
        __array_interface__ = {
            "shape": ((1 << 47) // np.dtype(kind).itemsize,),
            "typestr": np.dtype(kind).str,
            "data": (BASE, True),
            "version": 3,
        }

    return np.asarray(Memory())


class PointTable(NamedTuple):
    """The points of the ranks 1, 2, 3, … of some experts, one expert after another, in the order of adding up."""

    order: list[Any]
    points: Floats
    depth: int  # ranks of each expert
    position: int  # of the points in ``all_memory``


class PointTables:
    """A table for each set of experts that had lists; ``points`` gives those of an expert at these ranks.

    ``by_name`` adds up in the natural order of the names of experts; else in the order of the lists.
    """

    __slots__ = ("_by_name", "_n_kept", "_points", "_tables")

    def __init__(self, points: Callable[[str, Floats], Floats], *, by_name: bool) -> None:
        self._points, self._by_name = points, by_name
        self._tables: dict[tuple[Any, ...], PointTable | None] = {}
        self._n_kept = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, in this process or another, makes tables of its own: it cannot have the position of these."""
        return _make_tables, (self._points, self._by_name)

    def __call__(self, experts: tuple[Any, ...]) -> PointTable | None:
        """The table of these experts; None where there are none, or too many."""
        try:
            return self._tables[experts]
        except KeyError:
            return self._make(experts, DEPTH)

    def deepen(self, experts: tuple[Any, ...], table: PointTable) -> PointTable | None:
        """The table with four times as many ranks, from now on; None where these are too many."""
        return self._make(experts, 4 * table.depth) if 4 * table.points.size <= MOST_ENTRIES else None

    @property
    def kept(self) -> list[PointTable]:
        """What is kept for the next lists of the same experts."""
        return [table for table in self._tables.values() if table is not None]

    def _make(self, experts: tuple[Any, ...], depth: int) -> PointTable | None:
        if self._n_kept > MOST_KEPT:
            self._tables.clear()
            self._n_kept = 0
        self._n_kept += depth * max(1, len(experts))
        made = None
        if experts and depth * len(experts) <= MOST_ENTRIES and all(type(expert) is str for expert in experts):
            order = in_expert_order(experts) if self._by_name else list(experts)
            points = np.concatenate([self._points(expert, np.arange(1.0, depth + 1)) for expert in order])
            made = PointTable(order, points, depth, (points.ctypes.data - BASE) // points.itemsize)
        self._tables[experts] = made
        return made


def _make_tables(points: Callable[[str, Floats], Floats], by_name: bool) -> PointTables:
    return PointTables(points, by_name=by_name)
