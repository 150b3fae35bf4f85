"""Scores as combinations of the numbers that the lists of a query give to its items: what serving reads of a method."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from juryrank.data.arrays import Floats, Ints

RULES = ("sum", "mean", "max", "min", "median")


class ListNumbers(NamedTuple):
    """The numbers that a list gives to its items and to each other item of the query (None: nothing); its weight."""

    of_items: Sequence[float]
    of_others: float | None
    weight: float


class QueryItems:
    """What the lists of a query have in common: the items of all lists, and the weight of those that count."""

    def __init__(self, lists: Iterable[Sequence[Any]], weights: Iterable[float] = ()) -> None:
        self._lists, self._weights = lists, weights

    @cached_property
    def items(self) -> dict[Any, None]:
        """Each item once, as a key."""
        return dict.fromkeys(chain.from_iterable(self._lists))

    @cached_property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return add(self._weights)


@dataclass(eq=False)
class QueryList:
    """One list of a query without repeated items: its scores or, where lists go by rank, its ranks.

    A list that goes by rank is in order; its ranks may be left out where they are 1, 2, 3, …
    """

    size: int
    scores: Sequence[float] | None
    given_ranks: Sequence[float] | None
    weight: float
    query: QueryItems

    @property
    def n_items(self) -> int:
        """The number of items of the query."""
        return len(self.query.items)

    @cached_property
    def ranks(self) -> Sequence[float]:
        """The rank of each item; equal scores share the smallest."""
        if self.scores is not None:
            return ranks_by(self.scores)
        return range(1, self.size + 1) if self.given_ranks is None else self.given_ranks

    @cached_property
    def places(self) -> Sequence[float]:
        """The place of each item: its rank without gaps, where tied items share the mean of their places."""
        if self.scores is None and self.given_ranks is None:
            return range(1, self.size + 1)
        return ranks_by(self.scores or [-rank for rank in self.ranks], shared=True)


class ScoredEntries(NamedTuple):
    """The scores of all lists of a query, those of list m from ``ptr[m]`` to ``ptr[m + 1]``, best first, none empty."""

    score: Floats
    ptr: Ints
    n_items: int
    tied: bool  # whether scores tie in a list


@dataclass(frozen=True)
class Combination:
    """How the numbers that the lists give to an item become its score.

    ``numbers`` gives those of a list; ``numbers_of_all`` the same for all lists at once, if they have scores and give
    nothing to other items, or None where that is left to ``numbers``. ``rule`` combines them by weight (max and min
    ignore weights). The result is multiplied by a ``factor`` that depends on the weight of the lists that rank the
    item, and ``negated``.
    ``weights`` are those of the experts, ``others`` that of an expert without one; a list of weight 0 is left out, and
    an item of such lists alone comes last if ``unranked_last``.
    """

    rule: str
    numbers: Callable[[QueryList], ListNumbers]
    weights: Mapping[str, float] = field(default_factory=dict)
    others: float = 1.0
    factor: Callable[[Floats], Floats] | None = None
    negated: bool = False
    unranked_last: bool = True
    numbers_of_all: Callable[[ScoredEntries], Floats | None] | None = None

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(RULES)}, got {self.rule!r}")


def add(numbers: Iterable[float]) -> float:
    """The sum, added one by one as compiled code does: Python's ``sum`` may round in another way."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def ranks_by(scores: Sequence[float], *, shared: bool = False) -> list[float]:
    """The rank of each score; equal ones have the smallest rank, or the mean of their places where ``shared``."""
    falling = sorted(scores, reverse=True)
    ranks: dict[float, float] = dict(zip(reversed(falling), range(len(falling), 0, -1), strict=True))
    if shared and len(ranks) < len(falling):
        last = dict(zip(falling, range(1, len(falling) + 1), strict=True))
        ranks = {score: 0.5 * (first + last[score]) for score, first in ranks.items()}
    return list(map(ranks.__getitem__, scores))


def list_scale(norm: str, score: Floats, start: Ints, size: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """The origin and the width of each list's scores, and what every item of a list gets whose width is 0.

    A normalised score is (score - origin) / width. The scores of list m begin at ``start[m]``, the best first; ``low``
    and ``high`` are its extremes. ``min-max`` and ``max`` look at these two alone, which may be plain numbers.
    """
    if norm == "min-max":
        return low, high - low, 1.0
    if norm == "max":
        return 0.0, abs(high), 0.0
    if norm == "sum":
        return low, np.add.reduceat(score - np.repeat(low, size), start), 1.0 / size
    mean = np.add.reduceat(score, start) / size
    squares = np.add.reduceat((score - np.repeat(mean, size)) ** 2, start)
    constant = high == low  # a mean of equal numbers may differ from them in the last bit
    if norm == "z-score":
        return mean, np.where(constant, 0.0, np.sqrt(squares / size)), 0.0
    sd = np.where(constant, 0.0, np.sqrt(squares / np.maximum(size - 1, 1)))
    return mean - 3 * sd, 6 * sd, 0.5
