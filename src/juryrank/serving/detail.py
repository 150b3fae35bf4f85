"""The ranking of one query in detail: ranks and contributions by expert."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import count, repeat
from typing import Any, NamedTuple

from juryrank.serving.cleaning import Dropped, PlainList, by_rank, read_list


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


def in_detail(
    ranked: Mapping[Any, float],
    ranks: Mapping[str, Mapping[Any, float]],
    contributions: Mapping[str, Mapping[Any, float]] | None,
) -> list[FusedItem]:
    """The items of a ranking, best first, from the numbers of all experts."""
    added: Iterable[dict[str, float] | None] = repeat(None)
    if contributions is not None:
        added = _by_item(ranked, {expert: contributions[expert] for expert in ranks if expert in contributions})
    return list(map(MAKE, zip(ranked, ranked.values(), _by_item(ranked, ranks), added)))  # noqa: B905 (the last may repeat)


def _by_item(items: Iterable[Any], by_expert: Mapping[str, Mapping[Any, float]]) -> list[dict[str, float]]:
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
    return list(found.values())


class RankedLists(NamedTuple):
    """The lists of one query, and the rank of each of their items."""

    lists: dict[str, PlainList]
    ranks: dict[str, dict[Any, float]]

    @classmethod
    def of(cls, lists: dict[str, PlainList]) -> RankedLists:
        return cls(lists, {expert: _ranks_in(listed) for expert, listed in lists.items()})

    @property
    def items(self) -> dict[str, Sequence[Any]]:
        """The lists without ranks."""
        return {expert: listed.items for expert, listed in self.lists.items()}

    @classmethod
    def in_order(cls, lists: Mapping[str, list[str]]) -> RankedLists | None:
        """Lists of text, best first; None if an item is repeated in one of them."""
        ranks: dict[str, dict[Any, float]] = {expert: dict(zip(listed, count(1))) for expert, listed in lists.items()}
        if any(len(ranks[expert]) < len(listed) for expert, listed in lists.items()):
            return None
        return cls({expert: PlainList(listed) for expert, listed in lists.items()}, ranks)


def read_plain(given: Mapping[str, Any]) -> RankedLists | None:
    """The lists, if all have one of the usual shapes and nothing is missing or repeated."""
    out = RankedLists({}, {})
    dropped = Dropped()
    for expert, listed in given.items():
        if type(listed) is list and listed and type(listed[0]) is str:
            plain = PlainList(listed)
            try:
                ranks: dict[Any, float] = dict(zip(listed, count(1)))
            except TypeError:  # what cannot be a key of a dict
                return None
            if len(ranks) < len(listed):
                return None
        elif (found := read_list(listed, expert, dropped)) is None or dropped.missing or dropped.repeated:
            return None
        else:
            plain, ranks = found, _ranks_in(found)
        out.lists[expert], out.ranks[expert] = plain, ranks
    return out


def _ranks_in(listed: PlainList) -> dict[Any, float]:
    items, _, ranks = by_rank(listed)
    return dict(zip(items, range(1, len(items) + 1) if ranks is None else ranks, strict=True))
