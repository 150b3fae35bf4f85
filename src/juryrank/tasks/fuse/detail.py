"""The ranking of one query in detail: ranks and contributions by expert."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from juryrank.data.plain_lists import PlainList


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
    """What a FusedItem has, for all items of a ranking, best first."""

    scores: Mapping[Any, float]
    ranks: Collection[dict[str, float]]
    contributions: Collection[dict[str, float] | None]

    @classmethod
    def of(
        cls,
        ranked: Mapping[Any, float],
        lists: Mapping[str, PlainList],
        contributions: Mapping[str, Mapping[Any, float]] | None,
    ) -> Detail:
        """From the lists, and the contributions of all experts."""
        ranks = _by_item(ranked, {expert: listed.rank_of for expert, listed in lists.items()})
        if contributions is None:
            return cls(ranked, ranks, [None] * len(ranked))
        added = {expert: contributions[expert] for expert in lists if expert in contributions}
        return cls(ranked, ranks, _by_item(ranked, added))

    @property
    def items(self) -> list[FusedItem]:
        """The same item by item."""
        return list(map(MAKE, zip(self.scores, self.scores.values(), self.ranks, self.contributions, strict=True)))


def _by_item(items: Iterable[Any], by_expert: Mapping[str, Mapping[Any, float]]) -> list[Any]:
    """For each item the numbers of the experts that have one for it."""
    return [{expert: own[item] for expert, own in by_expert.items() if item in own} for item in items]
