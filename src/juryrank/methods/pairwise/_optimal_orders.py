"""All optimal orders of a Kemeny problem: what they agree on, whether there is only one, and a list of them.

Items are in groups that beat each other in cycles (strong components of "beats"). An order is optimal if, and only if,
it is optimal within each group and follows every majority between two groups. So groups are looked at one at a time.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.linear_ordering import strong_components
from juryrank.methods.pairwise._group_orders import SUBSETS, Flags, GroupOrders, as_set, group_orders


class OptimalOrders:
    """The optimal orders of one query, from one that was found and proven to be optimal.

    Inside, items are numbered by their places in the found order.
    """

    def __init__(self, margin: Floats, noises: Floats, order: Ints) -> None:
        self.order, self.noises = order, noises[order]
        self.margin = margin[order[:, None], order]
        self.label = np.empty(len(order), np.int64)
        n_groups = strong_components(self.margin, self.label)
        self.groups: list[GroupOrders] = []
        if n_groups < len(order):
            sizes = np.bincount(self.label, minlength=n_groups)
            members = (np.flatnonzero(self.label == g) for g in np.flatnonzero(sizes > 1).tolist())
            self.groups = [self._solved(items) for items in members]
            self._merge_groups()

    @cached_property
    def single(self) -> bool:
        """Whether no other optimal order is known."""
        apart = self.label[1:] != self.label[:-1]
        return all(group.single for group in self.groups) and not (apart & (self.margin.diagonal(1) == 0)).any()

    @property
    def unique(self) -> str:
        """Whether the found order is the only optimal one: "yes", "no" or "unknown"."""
        if not self.single:
            return "no"
        return "yes" if all(group.known for group in self.groups) else "unknown"

    def scores(self, ranked: Flags) -> Floats:
        """By item: the number of items below it in every optimal order; the items that may come first share the most.

        Where not all optimal orders are known, in every known one. An item that is not ``ranked`` by any list comes
        first only where no other does.
        """
        n, out = len(self.order), np.empty(len(self.order))
        if self.single:
            out[self.order] = np.arange(n)[::-1]
            return out
        found = np.array(self._items_below(), np.float64)
        first = np.zeros(n, bool)
        first[self._next_items([])] = True
        if (first & ranked[self.order]).any():
            first &= ranked[self.order]
        found[first] = max(found[first].max(), found[~first].max(initial=-1.0) + 1.0)
        out[self.order] = found
        return out

    def listed(self, limit: int) -> list[Ints]:
        """Up to ``limit`` optimal orders, the found one first."""
        out: list[Ints] = []
        ahead: list[list[int]] = [[]]
        while ahead and len(out) < limit:
            begun = ahead.pop()
            if len(begun) == len(self.order):
                out.append(self.order[begun])
            else:
                ahead += [[*begun, item] for item in reversed(self._next_items(begun))]
        return out

    def _next_items(self, begun: list[int]) -> list[int]:
        """The items that may follow: all that beat them are placed, and their group allows them; never none."""
        placed, allowed = as_set(begun), -1
        for group in self.groups:
            members = group.items.tolist()
            inside = as_set([place for place, item in enumerate(members) if placed >> item & 1])
            following = as_set([members[place] for place in group.next_items(inside)])
            allowed &= ~as_set(members) | following
        free = (i for i, above in enumerate(self._beaten_by) if not above & ~placed)
        return [i for i in free if not placed >> i & 1 and allowed >> i & 1]

    def _items_below(self) -> list[int]:
        """The number of items that come after each item in every order; the found order is one of them."""
        edges = (self.margin > 0) & self._apart
        for group in self.groups:
            edges[group.items[:, None], group.items] = group.agreed
        below: list[int] = []  # sets, of the last item first
        n = len(edges)
        for ahead in reversed(_rows_as_sets(edges)):
            reached = 0
            while ahead:
                nearest = (ahead & -ahead).bit_length() - 1
                reached |= 1 << nearest | below[n - 1 - nearest]
                ahead &= ~reached
            below.append(reached)
        return [reached.bit_count() for reached in reversed(below)]

    def _solved(self, items: Ints) -> GroupOrders:
        """The optimal orders of the items of one group, which are in the found order."""
        inner = self.margin if len(items) == len(self.margin) else self.margin[items[:, None], items]
        return group_orders(items, inner, float(self.noises[items].max()))

    def _merge_groups(self) -> None:
        """Look at several groups together where one has several orders, and items of different groups tie.

        What items of two groups agree on depends on all orders of each, not only on what each agrees on.
        """
        if all(group.single for group in self.groups):
            return
        start = 0
        for stop in _cuts(self.margin):
            inside = [group for group in self.groups if start <= group.items[0] < stop]
            mixed = any(len(group.items) < stop - start and not group.single for group in inside)
            if mixed and stop - start <= SUBSETS:
                self.label[start:stop] = self.label[start]
                self.groups = [group for group in self.groups if not start <= group.items[0] < stop]
                self.groups.append(self._solved(np.arange(start, stop)))
            start = stop

    @property
    def _apart(self) -> Flags:
        """[i, j]: whether two items are in different groups."""
        apart: Flags = self.label[:, None] != self.label
        return apart

    @cached_property
    def _beaten_by(self) -> list[int]:
        """By item: the items of other groups that beat it."""
        return _rows_as_sets((self.margin < 0) & self._apart)


def _cuts(margin: Floats) -> list[int]:
    """Where runs of items end, of which each beats all items after its run."""
    n = len(margin)
    contested = np.triu(margin <= 0, 1)
    reach = np.where(contested.any(1), n - 1 - contested[:, ::-1].argmax(1), np.arange(n))
    return [int(place) + 1 for place in np.flatnonzero(np.maximum.accumulate(reach) <= np.arange(n))]


def _rows_as_sets(flags: Flags) -> list[int]:
    return [int.from_bytes(row, "little") for row in np.packbits(flags, axis=1, bitorder="little")]
