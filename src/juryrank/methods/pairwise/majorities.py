"""Facts about the majorities of one query: the Condorcet winner, weak winners or a cycle, and the Smith set."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.data.lazy_details import LazyDetails
from juryrank.kernels.pairwise import margins
from juryrank.methods.pairwise.pairwise import MarginLists

Flags = NDArray[np.bool_]

FACTS = ("condorcet", "smith_set")


class Majorities:
    """The majorities of one query, from its margins: ``margin[i, j]`` is above 0 where a majority prefers i to j."""

    def __init__(self, margin: Floats) -> None:
        self.margin = margin

    @property
    def n(self) -> int:
        """The number of items."""
        return len(self.margin)

    @cached_property
    def beats(self) -> Flags:
        """[i, j]: whether a majority prefers i to j."""
        beats: Flags = self.margin > 0
        return beats

    @cached_property
    def winner(self) -> int | None:
        """The Condorcet winner: the item that beats all others."""
        found = np.flatnonzero(self.beats.sum(1) == self.n - 1)
        return int(found[0]) if len(found) else None

    @cached_property
    def unbeaten(self) -> Ints:
        """The items that no other beats: the Condorcet winner, or weak winners."""
        return np.flatnonzero(~self.beats.any(0))

    @property
    def condorcet(self) -> str:
        """``winner``, ``weak winners``, or ``cycle`` where every item is beaten; ``none`` without items."""
        if not self.n:
            return "none"
        if self.winner is not None:
            return "winner"
        return "weak winners" if len(self.unbeaten) else "cycle"

    @property
    def smith_set(self) -> Ints:
        """The Smith set: the smallest set of items, each of which beats all items outside of it."""
        return self.smith_sets[0] if self.n else np.empty(0, np.int64)

    @cached_property
    def smith_sets(self) -> list[Ints]:
        """The Smith set, the Smith set of the other items, and so on.

        Items of a set beat all in later ones, so they have more wins less losses. In that order, a set ends where all
        items so far beat all that follow.
        """
        if not self.n:
            return []
        order = np.argsort(self.beats.sum(0) - self.beats.sum(1), kind="stable")
        contested = ~self.beats[order[:, None], order]
        last = self.n - 1 - contested[:, ::-1].argmax(1)  # the last place that each does not beat; its own is one
        ends = np.flatnonzero(np.maximum.accumulate(last) <= np.arange(self.n)) + 1
        return [np.sort(items) for items in np.split(order, ends[:-1])]


def margins_of(q: int, lists: MarginLists) -> Floats:
    """The margins of one query."""
    n = int(lists.slot_ptr[q + 1] - lists.slot_ptr[q])
    out = np.empty((n, n))
    margins(q, lists, out)
    return out


def lazy_facts(rankings: Rankings, lists: MarginLists) -> LazyDetails:
    """The facts of every query, computed when they are looked at: they take longer than counting wins."""
    return LazyDetails(FACTS, partial(_facts, rankings, lists))


def _facts(rankings: Rankings, lists: MarginLists) -> dict[str, NDArray[Any]]:
    found = empty_facts(len(rankings))
    for q in range(len(rankings)):
        note_facts(found, q, Majorities(margins_of(q, lists)), item_names(rankings, q))
    return found


def empty_facts(n_queries: int) -> dict[str, NDArray[Any]]:
    """Room for the facts of each query."""
    return {"condorcet": np.full(n_queries, "", "<U12"), "smith_set": np.empty(n_queries, object)}


def note_facts(found: dict[str, NDArray[Any]], q: int, majorities: Majorities, names: NDArray[Any]) -> None:
    """Fill in the facts of one query."""
    found["condorcet"][q] = majorities.condorcet
    found["smith_set"][q] = tuple(sorted(names[majorities.smith_set]))


def item_names(rankings: Rankings, q: int) -> NDArray[Any]:
    """The names of the items of one query."""
    r = rankings
    names: NDArray[Any] = r.items[r.slot_item[r.slot_ptr[q] : r.slot_ptr[q + 1]]]
    return names
