"""Formulas: how the numbers that the lists of a query give to its items become scores; what tasks read of a method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.data.plain_lists import PlainList, ranks_by

DEPENDENCIES = ("rank", "place", "length", "items")
ALONE = (("rank",), ("place",))


class ListNumbers(NamedTuple):
    """The numbers that a list gives to its items and to each other item of the query (None: nothing); its weight."""

    of_items: Sequence[float]
    of_others: float | None
    weight: float


# The items of a list, and its ListNumbers.
Weighted = tuple[Sequence[Any], Sequence[float], float | None, float]


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
    expert: str = ""

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
class Formula:
    """How the numbers that the lists give to an item become its score.

    Where the score is the sum of the points of the positions in the lists, ``depends_on`` names what these depend on
    besides the expert: ``rank`` (as given), ``place`` (a rank without gaps; tied items share the mean of their places),
    ``length`` (of the list) and ``items`` (of the query). Where that is the rank or the place alone, ``points`` gives
    the points of an expert's list at these ranks, and the rest does not matter.

    ``numbers`` gives those of a list; ``numbers_of_all`` the same for the entries of all lists at once, if all have
    scores, and for the other items by list (None: nothing), or None where that is left to ``numbers``. ``rule``
    combines them by weight (max and min ignore weights). The result is multiplied by a ``factor`` that depends on the
    weight of the lists that rank the item, and ``negated``. ``weights`` are those of the experts, ``others`` that of an
    expert without one; a list of weight 0 is left out, and an item of such lists alone comes last if ``unranked_last``.
    """

    rule: str = "sum"
    numbers: Callable[[QueryList], ListNumbers] | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    others: float = 1.0
    factor: Callable[[Floats], Floats] | None = None
    negated: bool = False
    unranked_last: bool = True
    numbers_of_all: Callable[[ScoredEntries], tuple[Floats, Floats | None] | None] | None = None
    depends_on: tuple[str, ...] = ()
    points: Callable[[str, Floats], Floats] | None = None

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(RULES)}, got {self.rule!r}")
        if (self.points is not None) != (self.depends_on in ALONE):
            raise ValueError("a formula is needed where points depend on the rank or the place alone, and only there")
        if not (self.depends_on or self.numbers) or not all(name in DEPENDENCIES for name in self.depends_on):
            raise ValueError(f"points depend on some of {', '.join(DEPENDENCIES)}, got {self.depends_on!r}")

    @property
    def is_computed(self) -> bool:
        """Whether this gives scores, and does not only name what points depend on."""
        return self.points is not None or self.numbers is not None

    @property
    def share_ties(self) -> bool:
        """Whether tied items share the mean of their places; else they have the smallest of their ranks."""
        return "place" in self.depends_on

    def of(self, expert: str, ranks: Floats) -> Floats:
        """The points of these ranks in a list of this expert."""
        if self.points is None:
            raise TypeError(f"points depend on {' and '.join(self.depends_on)}, not on the rank alone")
        return self.points(expert, ranks)

    def scores(self, lists: Mapping[str, PlainList]) -> dict[Any, float]:
        """The score of each item; the lists of a query have items, and are in the order in which numbers are added."""
        weighted, query = self._weigh(lists)
        if not weighted:
            return dict.fromkeys(query.items, 0.0)
        counted = list(weighted.values())
        some_unranked = len(counted) < len(lists)
        scope = QueryItems([of[0] for of in counted]) if some_unranked and self.unranked_last else query
        pick = self.rule in PICKED
        fused = _pick(counted, self.rule, scope) if pick else _add_up(counted, scope, some_unranked)
        if self.rule == "mean":
            fused = _mean(fused, counted)
        if self.factor is not None:
            fused = self._times_factor(fused, _listed_weight(counted))
        if self.negated:
            fused = {item: -score for item, score in fused.items()}
        if some_unranked and self.unranked_last:
            fused = {**dict.fromkeys(query.items, min(fused.values()) - 1.0), **fused}
        return fused

    def contributions(self, lists: Mapping[str, PlainList]) -> dict[str, dict[Any, float]] | None:
        """What each list adds to the scores of all items; None where scores are no sums."""
        if self.rule != "sum" or self.factor is not None:
            return None
        weighted, query = self._weigh({expert: listed for expert, listed in lists.items() if listed.items})
        sign = -1.0 if self.negated else 1.0
        out: dict[str, dict[Any, float]] = {}
        for expert, (items, numbers, others, weight) in weighted.items():
            out[expert] = {} if others is None else dict.fromkeys(query.items, sign * weight * others)
            out[expert].update(zip(items, [sign * weight * number for number in numbers], strict=True))
        return out

    def _weigh(self, lists: Mapping[str, PlainList]) -> tuple[dict[str, Weighted], QueryItems]:
        """The numbers of the lists that have a weight, and the items of all."""
        own = {} if self.points is not None else self.weights
        weights = {expert: weight for expert in lists if (weight := own.get(expert, self.others)) > 0.0}
        query = QueryItems([listed.items for listed in lists.values()], weights.values())
        numbers = self._points_of if self.points is not None else self.numbers
        assert numbers is not None
        out: dict[str, Weighted] = {}
        for expert, weight in weights.items():
            items, scored, ranks = lists[expert]
            scores = None if scored is None else list(map(float, scored.values()))
            out[expert] = (items, *numbers(QueryList(len(items), scores, ranks, weight, query, expert)))
        return out, query

    def _points_of(self, listed: QueryList) -> ListNumbers:
        ranks = listed.places if self.share_ties else listed.ranks
        return ListNumbers(self.of(listed.expert, np.array(ranks, np.float64)).tolist(), None, 1.0)

    def _times_factor(self, fused: Mapping[Any, float], listed: Mapping[Any, float]) -> dict[Any, float]:
        """Sums times a factor that depends on the weight of the lists that rank the item."""
        assert self.factor is not None
        distinct = [0.0, *set(listed.values())]
        with np.errstate(over="ignore"):
            factors = dict(zip(distinct, self.factor(np.array(distinct)).tolist(), strict=True))
        weight = listed.get
        return {item: score * factors[weight(item, 0.0)] for item, score in fused.items()}


def fast_formula(model: Any) -> Formula | None:
    """The formula that gives the scores of a method; None where only the method itself gives them."""
    for cls in type(model).__mro__:
        if "formula" in vars(cls):
            formula: Formula | None = model.formula()
            return formula if formula is not None and formula.is_computed else None
        if "_scores" in vars(cls) or "_predict" in vars(cls):  # of a subclass, which the formula may not know of
            return None
    return None


def add(numbers: Iterable[float]) -> float:
    """The sum, added one by one as compiled code does: Python's ``sum`` may round in another way."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def _add_up(lists: Sequence[Weighted], scope: QueryItems, some_unranked: bool) -> dict[Any, float]:
    """The weighted sums."""
    fused: dict[Any, float] = {}
    if lists[0][2] is not None or some_unranked:
        fused = dict.fromkeys(scope.items, add(weight * (others or 0.0) for _, _, others, weight in lists))
    get = fused.get
    for items, numbers, others, weight in lists:
        if others is not None:
            gains: Sequence[float] = [weight * (number - others) for number in numbers]
        else:
            gains = numbers if weight == 1.0 else [weight * number for number in numbers]
        if not fused:
            fused.update(zip(items, gains, strict=True))
            continue
        for item, gained in zip(items, gains, strict=True):
            fused[item] = get(item, 0.0) + gained
    return fused


def _mean(fused: Mapping[Any, float], lists: Sequence[Weighted]) -> dict[Any, float]:
    """Sums over the weight of the lists that rank the item, or of all lists where they say something of others."""
    if lists[0][2] is None:
        listed = _listed_weight(lists)
        return {item: score / listed[item] if item in listed else score for item, score in fused.items()}
    total = add(weight for _, _, _, weight in lists)
    return {item: score / total for item, score in fused.items()}


def _listed_weight(lists: Sequence[Weighted]) -> Mapping[Any, float]:
    """The total weight of the lists that rank each item."""
    if all(weight == 1.0 for _, _, _, weight in lists):
        return Counter(chain.from_iterable(items for items, _, _, _ in lists))
    total: dict[Any, float] = {}
    for items, _, _, weight in lists:
        for item in items:
            total[item] = total.get(item, 0.0) + weight
    return total


def _pick(lists: Sequence[Weighted], rule: str, scope: QueryItems) -> dict[Any, float]:
    """What the rule makes of the numbers of each item, and of their weights where they matter."""
    given: dict[Any, list[Any]] = {item: [] for item in scope.items}
    weigh = rule == "median" and len({weight for _, _, _, weight in lists}) > 1
    for items, numbers, others, weight in lists:
        for item, number in zip(items, zip(numbers, repeat(weight)) if weigh else numbers, strict=True):
            given[item].append(number)
        if others is not None:
            for item in given.keys() - set(items):
                given[item].append((others, weight) if weigh else others)
    choose = _weighted_median if weigh else PICKED[rule]
    return {item: choose(numbers) for item, numbers in given.items()}


def _median(numbers: list[float]) -> float:
    """The middle number, or half-way between two middle numbers."""
    ordered, middle = sorted(numbers), len(numbers) // 2
    return ordered[middle] if len(ordered) % 2 else 0.5 * (ordered[middle - 1] + ordered[middle])


def _weighted_median(numbers: list[tuple[float, float]]) -> float:
    """The number with half of the weight on either side; the mean of two if the weight divides evenly."""
    half, passed = 0.5 * add(weight for _, weight in numbers), 0.0
    ordered = sorted(numbers, key=itemgetter(0))
    for n, (number, weight) in enumerate(ordered, 1):
        passed += weight
        if abs(passed - half) <= 1e-12 * half and n < len(ordered):
            return 0.5 * (number + ordered[n][0])
        if passed > half:
            return number
    return ordered[-1][0]


PICKED: dict[str, Callable[[list[float]], float]] = {"max": max, "min": min, "median": _median}
RULES = ("sum", "mean", *PICKED)
