"""The ranking of one query in detail: ranks and contributions by expert."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from itertools import compress, count
from typing import Any, NamedTuple

from juryrank.tasks.fuse.cleaning import ID_TYPES, Dropped, PlainList, by_rank, read_list
from juryrank.tasks.fuse.sums import PointSums

FIRST = 128  # ranks whose points are kept at once
MOST_RANKS, MOST_EXPERTS = 1_000, 256  # that are kept: names of experts may come from strangers


class FusedItem(NamedTuple):
    """An item of a ranking: its score, its rank in the list of each expert that has it, and what each expert adds.

    The contributions add up to the score, but for rounding. They are None where the score of a method is not a sum over
    the experts.
    """

    item: Any
    score: float
    ranks: dict[str, float]
    contributions: dict[str, float] | None


MAKE: Callable[[Iterable[Any]], FusedItem] = partial(tuple.__new__, FusedItem)  # in half the time of the class


class Detail(NamedTuple):
    """What a FusedItem has, for all items of a ranking, by item, best first."""

    scores: Mapping[Any, float]
    ranks: Mapping[Any, dict[str, float]]
    contributions: Mapping[Any, dict[str, float]] | None

    @classmethod
    def of(
        cls,
        ranked: Mapping[Any, float],
        ranks: Mapping[str, Mapping[Any, float]],
        contributions: Mapping[str, Mapping[Any, float]] | None,
    ) -> Detail:
        """From the numbers of all experts, by expert."""
        added = None
        if contributions is not None:
            added = _by_item(ranked, {expert: contributions[expert] for expert in ranks if expert in contributions})
        return cls(ranked, _by_item(ranked, ranks), added)

    @property
    def columns(self) -> tuple[Collection[float], Collection[dict[str, float]], Collection[dict[str, float] | None]]:
        """Score, ranks and contributions of each item."""
        added = [None] * len(self.scores) if self.contributions is None else self.contributions.values()
        return self.scores.values(), self.ranks.values(), added

    @property
    def items(self) -> list[FusedItem]:
        """The same item by item."""
        return list(map(MAKE, zip(self.scores, *self.columns, strict=True)))


def _by_item(items: Iterable[Any], by_expert: Mapping[str, Mapping[Any, float]]) -> dict[Any, dict[str, float]]:
    """For each item the numbers of the experts that have one for it."""
    found: dict[Any, dict[str, float]] = {item: {} for item in items}
    for expert, numbers in by_expert.items():
        if numbers.keys() <= found.keys():
            for item, number in numbers.items():
                found[item][expert] = number
        else:  # the ranking is not of all items
            for item, own in found.items():
                if item in numbers:
                    own[expert] = numbers[item]
    return found


class DetailInOrder:
    """The same for lists in order and a sum of points by rank: no numbers of all items are looked up by expert."""

    __slots__ = ("_points", "_sums")

    def __init__(self, sums: PointSums) -> None:
        self._sums = sums
        self._points: dict[str, list[float]] = {}

    def __call__(self, lists: Mapping[str, list[Any]], top: int | None) -> Detail | None:
        """None where a list is not one of ids, best first, or has one of them twice."""
        if top is not None and (best := self._sums.best_with_ranks(lists, top)) is not None:
            return self._of_best(lists, *best)
        dropped = Dropped()
        ranked = self._sums(lists, dropped, top)
        if ranked is None or dropped.repeated:
            return None
        ranks: dict[Any, dict[str, float]] = {item: {} for item in ranked}
        added: dict[Any, dict[str, float]] = {item: {} for item in ranked}
        for expert, listed in lists.items():
            points = self._points_of(expert, len(listed))
            if top is None or len(ranked) < top:
                for item, rank, gained in zip(listed, count(1), points):
                    ranks[item][expert] = rank
                    added[item][expert] = gained
            else:
                for rank in compress(count(1), map(ranks.__contains__, listed)):
                    item = listed[rank - 1]
                    ranks[item][expert] = rank
                    added[item][expert] = points[rank - 1]
        return Detail(ranked, ranks, added)

    def _of_best(
        self, lists: Mapping[str, list[Any]], ranked: dict[Any, float], experts: Iterable[str], found: list[int]
    ) -> Detail:
        """With the ranks of each item by the ``experts``, one item after another, 0 where a list does not have it."""
        place = {expert: n for n, expert in enumerate(experts)}
        columns = [
            (expert, place[expert], self._points_of(expert, len(listed))) for expert, listed in lists.items() if listed
        ]
        ranks: dict[Any, dict[str, float]] = {}
        added: dict[Any, dict[str, float]] = {}
        start = 0
        for item in ranked:
            ranks[item], added[item] = own, gained = {}, {}
            for expert, column, points in columns:
                if rank := found[start + column]:
                    own[expert], gained[expert] = rank, points[rank - 1]
            start += len(place)
        return Detail(ranked, ranks, added)

    def _points_of(self, expert: str, size: int) -> list[float]:
        """What the ranks 1, 2, 3, … of an expert's list add, at least as many as ``size``."""
        points = self._points.get(expert)
        if points is None or len(points) < size:
            ranks = range(1, max(FIRST, size) + 1)
            by_itself = {expert: dict(zip(ranks, ranks, strict=True))}
            found = self._sums.contributions({expert: PlainList(ranks)}, by_itself, ranks)[expert]
            points = [found[rank] for rank in ranks]
            if len(points) <= MOST_RANKS:
                if len(self._points) >= MOST_EXPERTS:
                    self._points.clear()
                self._points[expert] = points
        return points


def are_ids_in_order(lists: Iterable[Any]) -> bool:
    """Whether the lists look like ids, best first; only the first of each is looked at."""
    return all(type(listed) is list and (not listed or type(listed[0]) in ID_TYPES) for listed in lists)


class RankedLists(NamedTuple):
    """The lists of one query, and the rank of each of their items."""

    lists: dict[str, PlainList]
    ranks: dict[str, dict[Any, float]]

    @classmethod
    def of(cls, lists: dict[str, PlainList]) -> RankedLists:
        return cls(lists, {expert: _ranks_in(listed) for expert, listed in lists.items()})


def read_plain(given: Mapping[str, Any]) -> RankedLists | None:
    """The lists, if all have one of the usual shapes and nothing is missing or repeated."""
    plain: dict[str, PlainList] = {}
    dropped = Dropped()
    for expert, listed in given.items():
        found = read_list(listed, expert, dropped)
        if found is None or dropped.missing or dropped.repeated:
            return None
        plain[expert] = found
    return RankedLists.of(plain)


def _ranks_in(listed: PlainList) -> dict[Any, float]:
    items, _, ranks = by_rank(listed)
    return dict(zip(items, range(1, len(items) + 1) if ranks is None else ranks, strict=True))
