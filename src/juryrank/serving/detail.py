"""The ranking of one query in detail: ranks and contributions by expert."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
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


def in_detail(
    ranked: Mapping[Any, float],
    ranks: Mapping[str, Mapping[Any, float]],
    contributions: Mapping[str, Mapping[Any, float]] | None,
) -> list[FusedItem]:
    """The items of a ranking, best first, from the numbers of all experts."""
    by_expert = list(ranks.items())
    if contributions is None:
        return [FusedItem(item, score, _of(item, by_expert), None) for item, score in ranked.items()]
    added = [(expert, contributions[expert]) for expert in ranks if expert in contributions]
    return [FusedItem(item, score, _of(item, by_expert), _of(item, added)) for item, score in ranked.items()]


class RankedLists(NamedTuple):
    """The lists of one query, and the rank of each of their items."""

    lists: dict[str, PlainList]
    ranks: dict[str, dict[Any, float]]

    @classmethod
    def of(cls, lists: dict[str, PlainList]) -> RankedLists:
        return cls(lists, {expert: _ranks_in(listed) for expert, listed in lists.items()})


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


def _of(item: Any, by_expert: Sequence[tuple[str, Mapping[Any, float]]]) -> dict[str, float]:
    return {expert: numbers[item] for expert, numbers in by_expert if item in numbers}
