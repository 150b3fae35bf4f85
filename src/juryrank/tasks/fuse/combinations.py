"""One query: the numbers that lists give to items are combined, without frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from math import isfinite
from operator import itemgetter
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.methods.combination import Combination, QueryItems, QueryList, ScoredEntries, add
from juryrank.tasks.fuse.cleaning import TEXT, Dropped, PlainList, by_rank, read_list
from juryrank.tasks.fuse.order import best_first, common_type, in_expert_order
from juryrank.tasks.fuse.python_lists import Found, room_of_thread

# The items of a list, its numbers for them and for all other items (None: nothing), and its weight.
Weighted = tuple[Sequence[Any], Sequence[float], float | None, float]


class Combinations:
    """Combinations of the numbers that a query's lists give to its items, as a method declares them.

    ``by_name`` sorts items with equal scores by name; else they stay in the order in which the lists have them.
    """

    __slots__ = ("_by_name", "_combination", "_factors", "_numbers_of_all", "_uses_scores")

    def __init__(self, combination: Combination, *, uses_scores: bool, by_name: bool = True) -> None:
        self._combination, self._uses_scores, self._by_name = combination, uses_scores, by_name
        self._factors: dict[float, float] = {}  # by the weight of lists
        is_sum = by_name and combination.rule in ("sum", "mean") and not combination.negated
        self._numbers_of_all = combination.numbers_of_all if is_sum else None

    def __call__(
        self,
        lists: Mapping[Any, Any],
        dropped: Dropped,
        top: int | None = None,
        *,
        checked: bool = False,
        compiled: bool = True,
    ) -> dict[Any, float] | None:
        """The ``top`` scores, best first; None where a list is not plain, or where the result may not be finite.

        Compiled code reads the lists and sorts the scores, unless it is told not to; where it cannot, Python does.
        """
        if compiled and self._numbers_of_all is not None:
            found = self._combine_compiled(lists, top)
            if found is not None:
                if found.missing:
                    dropped.count_missing([next(iter(found.scores))], found.missing)  # all ids have one type
                return found.scores
        plain: dict[str, PlainList] = {}
        for expert in in_expert_order(tuple(lists)):
            if type(expert) is not str or (listed := read_list(lists[expert], expert, dropped)) is None:
                return None
            if self._uses_scores and listed.scored is None and lists[expert] and not checked:
                return None  # then the other lists, and those of other queries, go by rank, too
            if listed.items:
                plain[expert] = listed
        try:
            fused = self._combine(plain)
        except (TypeError, ValueError, ArithmeticError):  # what cannot be a key of a dict, or is no number
            return None
        of_type = common_type(fused, [listed.items for listed in plain.values()])
        if (of_type is None and not checked) or not isfinite(sum(fused.values())):
            return None
        if not self._by_name:
            fused = {item: fused[item] for item in _as_they_appear(lists, plain)}
        return best_first(fused, of_type, top, by_name=self._by_name, ties_likely=True)

    def _combine_compiled(self, lists: Mapping[Any, Any], top: int | None) -> Found | None:
        """The same by compiled code; None where it leaves them to Python."""
        c, experts = self._combination, tuple(lists)
        if not TEXT.issuperset(map(type, experts)):
            return None
        order = in_expert_order(experts)
        weights = [c.weights.get(expert, c.others) for expert in order]
        if not weights or min(weights) <= 0.0:
            return None
        return room_of_thread().combine(tuple(map(lists.__getitem__, order)), partial(self._add_arrays, weights), top)

    def _add_arrays(self, weights: list[float], entries: ScoredEntries, item: Ints) -> Floats | None:
        """The scores of all items; ``weights`` are those of the lists, ``item`` the number of each entry's item."""
        c, n_items, ptr = self._combination, entries.n_items, entries.ptr
        numbers = None if self._numbers_of_all is None else self._numbers_of_all(entries)
        if numbers is None:
            return None
        of_entry = None if min(weights) == 1.0 == max(weights) else np.repeat(weights, ptr[1:] - ptr[:-1])
        fused: Any = np.bincount(item, numbers if of_entry is None else of_entry * numbers, n_items)
        if c.rule == "mean" or c.factor is not None:
            listed = np.bincount(item, of_entry, n_items).astype(np.float64)
            fused = fused / listed if c.rule == "mean" else fused
            if c.factor is not None:
                with np.errstate(over="ignore"):
                    fused = fused * c.factor(listed)
        return fused if isfinite(np.add.reduce(fused)) else None

    def contributions(
        self, lists: Mapping[str, PlainList], ranks: Mapping[str, Mapping[Any, Any]], items: Iterable[Any]
    ) -> dict[str, dict[Any, float]] | None:
        """What each list adds to the scores of all items; None where scores are no sums."""
        if self._combination.rule != "sum" or self._combination.factor is not None:
            return None
        weighted, query = self._weigh({expert: listed for expert, listed in lists.items() if listed.items})
        sign = -1.0 if self._combination.negated else 1.0
        out: dict[str, dict[Any, float]] = {}
        for expert, (items, numbers, others, weight) in weighted.items():
            out[expert] = {} if others is None else dict.fromkeys(query.items, sign * weight * others)
            out[expert].update(zip(items, [sign * weight * number for number in numbers], strict=True))
        return out

    def _weigh(self, plain: Mapping[str, PlainList]) -> tuple[dict[str, Weighted], QueryItems]:
        """The numbers of the lists that have a weight, and the items of all."""
        c = self._combination
        weights = {expert: weight for expert in plain if (weight := c.weights.get(expert, c.others)) > 0.0}
        query = QueryItems([listed.items for listed in plain.values()], weights.values())
        out: dict[str, Weighted] = {}
        for expert, weight in weights.items():
            items, scored, ranks = plain[expert]
            scores = None if scored is None else list(map(float, scored.values()))
            out[expert] = (items, *c.numbers(QueryList(len(items), scores, ranks, weight, query)))
        return out, query

    def _combine(self, plain: Mapping[str, PlainList]) -> dict[Any, float]:
        c = self._combination
        weighted, query = self._weigh(plain)
        if not weighted:
            return dict.fromkeys(query.items, 0.0)
        lists = list(weighted.values())
        some_unranked = len(lists) < len(plain)
        scope = QueryItems([of[0] for of in lists]) if some_unranked and c.unranked_last else query
        fused = _pick(lists, c.rule, scope) if c.rule in PICKED else _add_up(lists, scope, some_unranked)
        if c.rule == "mean":
            fused = _mean(fused, lists)
        if c.factor is not None:
            fused = self._times_factor(fused, _listed_weight(lists))
        if c.negated:
            fused = {item: -score for item, score in fused.items()}
        if some_unranked and c.unranked_last:
            fused = {**dict.fromkeys(query.items, min(fused.values()) - 1.0), **fused}
        return fused

    def _times_factor(self, fused: Mapping[Any, float], listed: Mapping[Any, float]) -> dict[Any, float]:
        """Sums times a factor that depends on the weight of the lists that rank the item; factors are kept."""
        factors, weight = self._factors, listed.get
        try:
            return {item: score * factors[weight(item, 0.0)] for item, score in fused.items()}
        except KeyError:
            assert self._combination.factor is not None
            distinct = [0.0, *set(listed.values())]
            with np.errstate(over="ignore"):
                factors.update(zip(distinct, self._combination.factor(np.array(distinct)).tolist(), strict=True))
            return {item: score * factors[weight(item, 0.0)] for item, score in fused.items()}


def _as_they_appear(lists: Mapping[str, Any], plain: Mapping[str, PlainList]) -> Iterable[Any]:
    """The items in the order of the lists as they were given, each the best first."""
    return dict.fromkeys(chain.from_iterable(by_rank(plain[expert]).items for expert in lists if expert in plain))


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
