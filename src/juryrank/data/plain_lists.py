"""Lists without missing numbers and repeated items: what plain Python works on."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from math import isfinite
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from juryrank.data.shapes import ItemList, as_texts, warn_of_lists_without_scores
from juryrank.data.values import are_ranks, demand_ranks
from juryrank.errors import warn_about_data
from juryrank.polars import pl

Key = TypeVar("Key", bound=Hashable)


class PlainList(NamedTuple):
    """Different items with finite scores, or in order with their ranks; without ranks these are 1, 2, 3, …"""

    items: Sequence[Any]
    scored: Mapping[Any, Any] | None = None
    ranks: Sequence[float] | None = None

    def by_rank(self) -> PlainList:
        """The same list without its scores."""
        if self.scored is None:
            return self
        items = sorted(self.scored, key=self.scored.__getitem__, reverse=True)
        return PlainList(items, None, ranks_by([self.scored[item] for item in items]))

    @property
    def rank_of(self) -> dict[Any, float]:
        """The rank of each item, best first."""
        items, _, ranks = self.by_rank()
        return dict(zip(items, range(1, len(items) + 1) if ranks is None else ranks, strict=True))


class Dropped:
    """Counts of the entries that are left out."""

    missing = repeated = 0

    def warn(self, values: str = "score") -> None:
        """Report what was left out."""
        if self.missing:
            warn_about_data(f"the data: {self.missing} entries without a {values} are dropped")
        if self.repeated:
            warn_about_data(f"the data: {self.repeated} entries repeat an item of their list; the best is kept")


def clean(lists: Mapping[Key, ItemList], *, uses_scores: bool, values: str = "score") -> dict[Key, PlainList]:
    """The lists without missing numbers and repeated items; both are counted in warnings.

    For a method that uses scores, all lists go by rank if some have no scores, as a warning says.
    """
    own = as_texts(list(chain.from_iterable(listed.items for listed in lists.values())))[1]
    if uses_scores and values == "score":
        warn_of_lists_without_scores(list(lists.values()))
    if values == "rank" and not all(listed.numbers is None or are_ranks(listed.numbers) for listed in lists.values()):
        _refuse_ranks(lists)
    out: dict[Key, PlainList] = {}
    dropped = Dropped()
    for name, (given, numbers) in lists.items():
        items = given if own is None else list(map(own.__getitem__, map(str, given)))
        if numbers is None:
            out[name] = _first_of_each(items, dropped)
        elif values == "score":
            scored = _best_of_each(items, numbers, dropped)
            out[name] = PlainList(list(scored), scored)
        else:
            out[name] = _by_given_ranks(items, numbers, dropped)
    dropped.warn(values)
    by_order = any(listed.items and listed.scored is None for listed in out.values())
    return {name: listed.by_rank() for name, listed in out.items()} if uses_scores and by_order else out


def as_item_lists(lists: Mapping[Key, PlainList]) -> tuple[dict[Key, ItemList], str]:
    """The same lists for a Dataset, and whether their numbers are a score or a rank."""
    if all(listed.scored is not None for listed in lists.values() if listed.items):
        return {name: ItemList(list(of.items), list((of.scored or {}).values())) for name, of in lists.items()}, "score"
    out = {}
    for name, listed in lists.items():
        items, _, ranks = listed.by_rank()
        out[name] = ItemList(list(items), None if ranks is None else list(ranks))
    return out, "rank"


def ranks_by(scores: Sequence[float], *, shared: bool = False) -> list[float]:
    """The rank of each score; equal ones have the smallest rank, or the mean of their places where ``shared``."""
    falling = sorted(scores, reverse=True)
    ranks: dict[float, float] = dict(zip(reversed(falling), range(len(falling), 0, -1), strict=True))
    if shared and len(ranks) < len(falling):
        last = dict(zip(falling, range(1, len(falling) + 1), strict=True))
        ranks = {score: 0.5 * (first + last[score]) for score, first in ranks.items()}
    return list(map(ranks.__getitem__, scores))


def _refuse_ranks(lists: Mapping[Any, ItemList]) -> None:
    """The error of a Dataset about numbers that are no ranks."""
    rows = [
        (query, expert, str(item), rank)
        for (expert, query), (items, numbers) in lists.items()
        for item, rank in zip(items, numbers or range(1, len(items) + 1), strict=True)
    ]
    schema = {"query": pl.String, "expert": pl.String, "item": pl.String, "rank": pl.Float64}
    demand_ranks(pl.DataFrame(rows, schema=schema, orient="row"), "the data")


def _first_of_each(items: Sequence[Any], dropped: Dropped) -> PlainList:
    """Each item once, where it is first."""
    distinct = dict.fromkeys(items)
    if len(distinct) == len(items):
        return PlainList(items)
    dropped.repeated += len(items) - len(distinct)
    rank = dict(zip(reversed(items), range(len(items), 0, -1), strict=True))  # of equal keys, the last stays
    return PlainList(list(distinct), None, list(map(rank.__getitem__, distinct)))


def _best_of_each(items: Sequence[Any], numbers: Sequence[float], dropped: Dropped) -> dict[Any, float]:
    """The best number of each item, without those that are not finite."""
    best = dict(zip(items, numbers, strict=True))
    if len(best) == len(items) and all(map(isfinite, numbers)):
        return best
    pairs = [pair for pair in zip(items, numbers, strict=True) if isfinite(pair[1])]
    dropped.missing += len(items) - len(pairs)
    best = dict(pairs)
    if len(best) == len(pairs):
        return best
    dropped.repeated += len(pairs) - len(best)
    falling = sorted(pairs, key=itemgetter(1), reverse=True)
    best = dict.fromkeys(map(itemgetter(0), falling), 0.0)
    best.update(reversed(falling))  # of equal keys, the last stays: the best
    return best


def _by_given_ranks(items: Sequence[Any], ranks: Sequence[float], dropped: Dropped) -> PlainList:
    """The items in the order of their ranks; of the ranks of a repeated item, the best."""
    if ranks == list(range(1, len(ranks) + 1)) and len(set(items)) == len(items):  # as most are
        return PlainList(items)
    best = _best_of_each(items, [-rank for rank in ranks], dropped)
    ordered = sorted(best, key=best.__getitem__, reverse=True)
    return PlainList(ordered, None, [-best[item] for item in ordered])
