"""The optimal orders of items that beat each other in cycles, from one that is optimal.

Of up to ``SUBSETS`` items all orders are found, by dynamic programming over the subsets of items. Of more items, those
are found that differ from the given order in the place of one item. Sets of items are integers with a bit for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.linear_ordering import round_to_units

ROUNDING = 2.0**-52  # of one operation, relative to its result
SUBSETS = 12  # items of a group; beyond, a table of all subsets in numpy takes too long beside the search

Flags = NDArray[np.bool_]


class GroupOrders(NamedTuple):
    """The optimal orders of some items."""

    items: Ints  # in the given order
    agreed: Flags  # [i, j]: the i-th item comes before the j-th in every order
    single: bool  # whether there is one order only, as far as is known
    known: bool  # whether these are all optimal orders
    ends: Flags | None = None  # [i, set]: an order begins with the set, and i is the last item in it; if all are known
    moves: tuple[tuple[int, int], ...] = ()  # the other orders: an item goes from one place to another; if not

    def next_items(self, placed: int) -> list[int]:
        """Which items may follow a set that an order begins with, by their places in ``items``."""
        if self.ends is not None:
            return [i for i in range(len(self.items)) if not placed >> i & 1 and self.ends[i, placed | 1 << i]]
        size = placed.bit_count()
        begun = (order for order in self._orders() if size < len(order) and as_set(order[:size]) == placed)
        return sorted({order[size] for order in begun})

    def _orders(self) -> Iterator[list[int]]:
        """The given order, and those that differ from it in the place of one item."""
        yield list(range(len(self.items)))
        for start, to in self.moves:
            moved = list(range(len(self.items)))
            moved.insert(to, moved.pop(start))
            yield moved


def group_orders(items: Ints, margin: Floats, noise: float) -> GroupOrders:
    """The optimal orders of items whose order is optimal; ``margin`` is of these items, known up to ``noise``."""
    whole, step = round_to_units(margin, noise)
    n = len(items)
    tolerance = 0.5 if step else n * n * noise + 4.0 * n * ROUNDING * float(np.abs(margin).sum())
    return (by_subsets if n <= SUBSETS else by_moves)(items, whole, tolerance)


def by_subsets(items: Ints, margin: Floats, tolerance: float) -> GroupOrders:
    """All optimal orders; a sum of margins that is less than the largest by at most ``tolerance`` is equal to it."""
    n = len(items)
    table = subsets_of(n)
    gain = table.inside @ margin  # [set, i]: the margins of its items over i
    best = np.zeros(1 << n)  # by set: the largest sum of margins of its items over those after them
    flat = gain.ravel()
    for sets, without, last in table.layers:
        best[sets] = (best[without] + flat[last]).max(1)
    across = np.where(table.inside, 0.0, gain).sum(1)
    rest = across + best[::-1]  # what the items outside of a set, its complement, add after those inside
    value = best[table.without] + flat[table.last] + rest[table.with_item]
    is_best = value >= best[-1] - tolerance
    always = np.bitwise_and.reduce(np.where(is_best, table.with_item, (1 << n) - 1), axis=1)
    agreed = (always & (1 << np.arange(n))[:, None]) != 0  # [i, j]: i is in every set that j ends, so before j
    np.fill_diagonal(agreed, False)
    ends = np.zeros((n, 1 << n), bool)
    np.put_along_axis(ends, table.with_item, is_best, axis=1)
    return GroupOrders(items, agreed, int(is_best.sum()) == n, True, ends)


def by_moves(items: Ints, margin: Floats, tolerance: float) -> GroupOrders:
    """The orders that differ from the given one in the place of one item and are as good."""
    n = len(items)
    agreed, moves = np.triu(np.ones((n, n), bool), 1), list[tuple[int, int]]()
    for item in range(n):
        up, down = np.cumsum(margin[item, :item][::-1]), np.cumsum(margin[item, item + 1 :])
        higher = item - 1 - np.flatnonzero(np.abs(up) <= tolerance)
        lower = item + 1 + np.flatnonzero(np.abs(down) <= tolerance)
        moves += [(item, place) for place in np.append(higher, lower).tolist()]
        agreed[higher.min(initial=item) : item, item] = False
        agreed[item, item + 1 : lower.max(initial=item) + 1] = False
    return GroupOrders(items, agreed, not moves, False, None, tuple(moves))


class Subsets(NamedTuple):
    """All sets of n items, arranged for dynamic programming."""

    inside: Floats  # [set, i]: 1 where i is in the set
    layers: tuple[tuple[Ints, Ints, Ints], ...]  # by size: the sets, each without each item, and where gains are flat
    with_item: Ints  # [i, n]: the sets that contain i
    without: Ints  # these sets without i
    last: Ints  # where the gain of i after them is in the flat table


@cache
def subsets_of(n: int) -> Subsets:
    """The sets of n items; the tables of all n up to ``SUBSETS`` take a few megabytes."""
    sets, bits = np.arange(1 << n), 1 << np.arange(n)
    inside = (sets[:, None] & bits) != 0
    size, layers = inside.sum(1), []
    for k in range(2, n + 1):
        of_size = np.flatnonzero(size == k)
        item = np.nonzero(inside[of_size])[1].reshape(-1, k)
        without = of_size[:, None] ^ bits[item]
        layers.append((of_size, without, without * n + item))
    with_item = np.stack([np.flatnonzero(inside[:, i]) for i in range(n)])
    without = with_item ^ bits[:, None]
    last = without * n + np.arange(n)[:, None]
    return Subsets(inside.astype(np.float64), tuple(layers), with_item, without, last)


def as_set(items: list[int]) -> int:
    """The set of some items.

    >>> as_set([0, 2])
    5
    """
    return sum(1 << item for item in items)
