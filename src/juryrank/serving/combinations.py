"""One query in plain Python: normalised scores are combined with neither frames nor compiled code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from juryrank.kernels.scaling import LARGE, scaling_exponents
from juryrank.methods.combination import Combination, list_scale
from juryrank.serving.cleaning import Ranked, as_scores, ranks_with_ties
from juryrank.serving.order import best_first, common_type, in_expert_order

START, NO_SCORES = np.zeros(1, np.int64), np.empty(0)


class Weighted(NamedTuple):
    """The items of a list with their normalised scores, and the weight of the list."""

    items: Sequence[Any]
    scores: list[float]
    weight: float


class ScoreCombinations:
    """Combinations of the scores of a query's lists, as a method declares them."""

    __slots__ = ("_combination",)

    def __init__(self, combination: Combination) -> None:
        self._combination = combination

    def __call__(self, lists: Mapping[Any, Any], *, checked: bool = False) -> dict[Any, float] | None:
        """The combined scores, best first; None where a list is not plain, or where the result may not be finite."""
        read = _read(lists, checked)
        if read is None:
            return None
        items, scores = read
        try:
            fused = self._combine(items, scores)
        except TypeError:  # what cannot be a key of a dict
            return None
        of_type = common_type(fused, items.values())
        if (of_type is None and not checked) or not isfinite(sum(fused.values())):
            return None
        return best_first(fused, of_type)

    def _combine(self, items: Mapping[str, Sequence[Any]], scores: Mapping[str, list[float]]) -> dict[Any, float]:
        c = self._combination
        n_items = len(set(chain.from_iterable(items.values()))) if c.norm == "borda" else 0
        lists = [
            Weighted(items[expert], normalise(of, c.norm, n_items), weight)
            for expert, of in scores.items()
            if of and (weight := c.weights.get(expert, 1.0)) > 0
        ]
        fused = _pick(lists, PICKED[c.rule], c.missing) if c.rule in PICKED else _add_up(lists, c.missing)
        if c.rule == "mean":
            fused = _mean(fused, lists, c.missing)
        if c.power:
            fused = _times_lists(fused, lists, c.power)
        if len(lists) < len(items):  # items of lists with weight 0 alone come last
            last = min(fused.values()) - 1.0 if fused else 0.0
            fused = {**dict.fromkeys(chain.from_iterable(items.values()), last), **fused}
        return fused


def _read(lists: Mapping[Any, Any], checked: bool) -> tuple[dict[str, Sequence[Any]], dict[str, list[float]]] | None:
    """The items and the scores of each list, by expert; those of a ``Ranked`` list count from its worst rank up."""
    items: dict[str, Sequence[Any]] = {}
    scores: dict[str, list[float]] = {}
    for expert in in_expert_order(tuple(lists)):
        if type(expert) is not str:
            return None
        listed = lists[expert]
        if type(listed) is Ranked:
            top = max(listed.ranks, default=0) + 1.0
            items[expert], scores[expert] = listed.items, [top - rank for rank in listed.ranks]
            continue
        if checked and not listed:
            continue
        if (scored := as_scores(listed)) is None:
            return None
        try:
            numbers = list(map(float, scored.values()))
        except (TypeError, ValueError, OverflowError):
            return None
        if not (checked or isfinite(sum(numbers))):
            return None
        items[expert], scores[expert] = list(scored), numbers
    return items, scores


def normalise(scores: list[float], norm: str, n_items: int) -> list[float]:
    """The scores of one list, made comparable with those of others; ``n_items`` is the number of items of the query."""
    if norm == "none":
        return scores
    if norm in ("rank", "borda"):
        falling = sorted(scores, reverse=True)
        place = dict(zip(falling, ranks_with_ties(falling, shared=True), strict=True))
        size = len(scores) if norm == "rank" else n_items
        return [1.0 - (place[score] - 1.0) / size for score in scores]
    low, high = min(scores), max(scores)
    largest = max(-low, high)
    if largest > LARGE or 0.0 < largest < 1 / LARGE:
        power = scaling_exponents(largest)
        scores = np.ldexp(scores, power).tolist()
        low, high = min(scores), max(scores)
    size = len(scores)
    if norm in ("min-max", "max"):
        origin, width, flat = list_scale(norm, NO_SCORES, START, size, low, high)
    else:
        in_order = np.array(sorted(scores, reverse=True))  # in which a Dataset adds them
        origin, width, flat = (float(np.ravel(n)[0]) for n in list_scale(norm, in_order, START, size, low, high))
    return [(score - origin) / width for score in scores] if width > 0.0 else [flat] * size


def _add_up(lists: Iterable[Weighted], missing: str) -> dict[Any, float]:
    """The weighted sums; with ``last``, a list gives its lowest score to the items that it leaves out."""
    fused: dict[Any, float] = {}
    if missing == "last":
        base = 0.0
        for _, scores, weight in lists:
            base += weight * min(scores)
        fused = dict.fromkeys(chain.from_iterable(of.items for of in lists), base)
    get = fused.get
    for items, scores, weight in lists:
        if missing == "last":
            low = min(scores)
            gains = [weight * (score - low) for score in scores]
        else:
            gains = scores if weight == 1.0 else [weight * score for score in scores]
        if not fused:
            fused.update(zip(items, gains, strict=True))
            continue
        for item, gained in zip(items, gains, strict=True):
            fused[item] = get(item, 0.0) + gained
    return fused


def _mean(fused: Mapping[Any, float], lists: Sequence[Weighted], missing: str) -> dict[Any, float]:
    """Sums over the weight of the lists that rank the item, or, with ``last``, of all lists."""
    if missing == "ignore":
        listed = _listed_weight(lists)
        return {item: score / listed[item] for item, score in fused.items()}
    total = 0.0
    for _, _, weight in lists:  # one by one: Python's sum rounds in another way
        total += weight
    return {item: score / total for item, score in fused.items()}


def _times_lists(fused: Mapping[Any, float], lists: Sequence[Weighted], power: float) -> dict[Any, float]:
    """Sums times a power of the number of lists that rank the item."""
    listed = _listed_weight(lists)
    if power == 1.0:
        return {item: score * listed[item] for item, score in fused.items()}
    distinct = list(set(listed.values()))
    with np.errstate(over="ignore"):
        factor = dict(zip(distinct, (np.array(distinct, np.float64) ** power).tolist(), strict=True))
    return {item: score * factor[listed[item]] for item, score in fused.items()}


def _listed_weight(lists: Sequence[Weighted]) -> Mapping[Any, float]:
    """The total weight of the lists that rank each item."""
    if all(weight == 1.0 for _, _, weight in lists):
        return Counter(chain.from_iterable(of.items for of in lists))
    total: dict[Any, float] = {}
    for items, _, weight in lists:
        for item in items:
            total[item] = total.get(item, 0.0) + weight
    return total


def _pick(lists: Sequence[Weighted], choose: Callable[[list[float]], float], missing: str) -> dict[Any, float]:
    """What ``choose`` makes of the scores of each item; with ``last``, of all lists."""
    scores: dict[Any, list[float]] = {item: [] for of in lists for item in of.items}
    for of in lists:
        for item, score in zip(of.items, of.scores, strict=True):
            scores[item].append(score)
        if missing == "last":
            low = min(of.scores)
            for item in scores.keys() - set(of.items):
                scores[item].append(low)
    return {item: choose(given) for item, given in scores.items()}


def _median(scores: list[float]) -> float:
    """The middle score, or half-way between two middle scores."""
    ordered, middle = sorted(scores), len(scores) // 2
    return ordered[middle] if len(ordered) % 2 else 0.5 * (ordered[middle - 1] + ordered[middle])


PICKED: dict[str, Callable[[list[float]], float]] = {"max": max, "min": min, "median": _median}
