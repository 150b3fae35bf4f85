"""The lists of one query or several in the one form that plain Python works on: ``PlainList``."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from math import isfinite
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from juryrank.data.shapes import ItemList, as_texts, warn_of_lists_without_scores, warn_of_repeated_pairs
from juryrank.data.values import are_ranks, demand_ranks
from juryrank.errors import warn_about_data
from juryrank.methods.combination import ranks_by
from juryrank.polars import pl

Key = TypeVar("Key", bound=Hashable)

TUPLE, TEXT, WHOLE = frozenset((tuple,)), frozenset((str,)), frozenset((int,))
ID_TYPES = TEXT | WHOLE


class PlainList(NamedTuple):
    """Different items with finite scores, or in order with their ranks; without ranks these are 1, 2, 3, …"""

    items: Sequence[Any]
    scored: Mapping[Any, Any] | None = None
    ranks: Sequence[float] | None = None


class Dropped:
    """Counts of the entries that are left out, the types of their ids, and the lists of pairs with repeated ids."""

    __slots__ = ("missing", "pairs", "repeated", "types")

    def __init__(self) -> None:
        self.missing = self.repeated = 0
        self.types: set[type] | None = None
        self.pairs: dict[Any, Sequence[Any]] | None = None

    def count_missing(self, given: Iterable[Any], n_missing: int) -> None:
        """Count entries that are missing among the given ids."""
        self.missing += n_missing
        self.types = {*(self.types or ()), *map(type, given)}

    def of_one_type(self, rankings: Iterable[Mapping[Any, float]]) -> bool:
        """Whether the ids of rankings, each of one type, and of what was left out are all text or all whole numbers."""
        types = {*(self.types or ()), *(type(next(iter(ranked))) for ranked in rankings if ranked)}
        return types <= TEXT or types <= WHOLE

    def warn(self, experts: Iterable[Any] = (), values: str = "score") -> None:
        """Report what was left out."""
        if self.pairs:
            for expert in filter(self.pairs.__contains__, experts):
                warn_of_repeated_pairs(self.pairs[expert], f"expert {expert!r}")
        if self.missing:
            warn_about_data(f"the data: {self.missing} entries without a {values} are dropped")
        if self.repeated:
            warn_about_data(f"the data: {self.repeated} entries repeat an item of their list; the best is kept")


def read_list(listed: Any, expert: str, dropped: Dropped) -> PlainList | None:
    """A list of one of the usual shapes; None where its elements must be looked at one by one.

    The ids of a list in order may still be anything that can be a key of a dict.
    """
    if type(listed) is PlainList:
        return listed
    try:
        if (type(listed) is list or type(listed) is tuple) and (not listed or type(listed[0]) in ID_TYPES):
            if len(set(listed)) == len(listed):
                return PlainList(listed)
            return first_of_each(listed, dropped) if one_type(listed) else None
        scored = read_scores(listed, expert, dropped)
        if scored is not None and not all(map(isfinite, scored.values())):
            scored = finite_scores(scored, dropped)
    except (TypeError, ValueError, ArithmeticError):  # what cannot be a key of a dict, or is no number
        return None
    return None if scored is None else PlainList(list(scored), scored)


def read_scores(listed: Any, expert: str, dropped: Dropped) -> Mapping[Any, Any] | None:
    """``{item: score}`` of a mapping or of pairs; None where the shape is another. Scores may be missing."""
    if type(listed) is dict or isinstance(listed, Mapping):
        return listed
    if not (type(listed) is list or type(listed) is tuple) or not TUPLE.issuperset(map(type, listed)):
        return None
    scored = dict(listed)
    if len(scored) == len(listed):
        return scored
    if not one_type([pair[0] for pair in listed]):
        return None
    dropped.pairs = {**(dropped.pairs or {}), expert: listed}
    return best_of_each(listed, dropped)


def one_type(items: Sequence[Any] | Mapping[Any, Any]) -> bool:
    """Whether equal items are the same item: 1 equals True and 1.0, too."""
    return TEXT.issuperset(map(type, items)) or WHOLE.issuperset(map(type, items))


def first_of_each(items: Sequence[Any], dropped: Dropped) -> PlainList:
    """Each item once, where it is first."""
    rank = dict(zip(reversed(items), range(len(items), 0, -1), strict=True))  # of equal keys, the last stays
    distinct = list(dict.fromkeys(items))
    dropped.repeated += len(items) - len(distinct)
    return PlainList(distinct, None, list(map(rank.__getitem__, distinct)))


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
            out[name] = first_of_each(items, dropped) if len(set(items)) < len(items) else PlainList(items)
        elif values == "score":
            scored = best_of_each(list(zip(items, numbers, strict=True)), dropped)
            out[name] = PlainList(list(scored), scored)
        else:
            out[name] = _by_given_ranks(items, numbers, dropped)
    dropped.warn(values=values)
    by_order = any(listed.items and listed.scored is None for listed in out.values())
    return {name: by_rank(listed) for name, listed in out.items()} if uses_scores and by_order else out


def _refuse_ranks(lists: Mapping[Any, ItemList]) -> None:
    """The error of a Dataset about numbers that are no ranks."""
    rows = [
        (query, expert, str(item), rank)
        for (expert, query), (items, numbers) in lists.items()
        for item, rank in zip(items, numbers or range(1, len(items) + 1), strict=True)
    ]
    schema = {"query": pl.String, "expert": pl.String, "item": pl.String, "rank": pl.Float64}
    demand_ranks(pl.DataFrame(rows, schema=schema, orient="row"), "the data")


def by_rank(listed: PlainList) -> PlainList:
    """The same list without its scores."""
    if listed.scored is None:
        return listed
    items = sorted(listed.scored, key=listed.scored.__getitem__, reverse=True)
    return PlainList(items, None, ranks_by([listed.scored[item] for item in items]))


def as_item_lists(lists: Mapping[Key, PlainList]) -> tuple[dict[Key, ItemList], str]:
    """The same lists for a Dataset, and whether their numbers are a score or a rank."""
    if all(listed.scored is not None for listed in lists.values() if listed.items):
        return {name: ItemList(list(of.items), list((of.scored or {}).values())) for name, of in lists.items()}, "score"
    out = {}
    for name, listed in lists.items():
        items, _, ranks = by_rank(listed)
        out[name] = ItemList(list(items), None if ranks is None else list(ranks))
    return out, "rank"


def finite_scores(scored: Mapping[Any, Any], dropped: Dropped) -> dict[Any, Any]:
    """Without the scores that are not finite."""
    finite = {item: score for item, score in scored.items() if isfinite(score)}
    dropped.count_missing(scored, len(scored) - len(finite))
    return finite


def best_of_each(pairs: Sequence[tuple[Any, Any]], dropped: Dropped) -> dict[Any, Any]:
    """The best score of each item, without those that are not finite."""
    finite = pairs
    if not all(map(isfinite, map(itemgetter(1), pairs))):
        finite = [pair for pair in pairs if isfinite(pair[1])]
        dropped.count_missing(map(itemgetter(0), pairs), len(pairs) - len(finite))
    best = dict(finite)
    if len(best) == len(finite):
        return best
    dropped.repeated += len(finite) - len(best)
    falling = sorted(finite, key=itemgetter(1), reverse=True)
    best = dict.fromkeys(map(itemgetter(0), falling))
    best.update(reversed(falling))  # of equal keys, the last stays: the best
    return best


def _by_given_ranks(items: Sequence[Any], ranks: Sequence[float], dropped: Dropped) -> PlainList:
    """The items in the order of their ranks; of the ranks of a repeated item, the best."""
    if ranks == list(range(1, len(ranks) + 1)) and len(set(items)) == len(items):  # as most are
        return PlainList(items)
    best = best_of_each([(item, -rank) for item, rank in zip(items, ranks, strict=True)], dropped)
    ordered = sorted(best, key=best.__getitem__, reverse=True)
    return PlainList(ordered, None, [-best[item] for item in ordered])
