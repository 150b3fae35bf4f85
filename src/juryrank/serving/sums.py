"""One query in plain Python: points by rank are added up with neither frames nor compiled code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.methods.points import PositionPoints
from juryrank.serving.cleaning import in_rank_order, warn_of_repetitions
from juryrank.serving.order import best_first, common_type, in_expert_order, in_natural_order

Curve = tuple[list[float], Floats]  # points of the ranks 1, 2, 3, …, twice: to loop over, and to add as an array

MANY = 400  # entries from which arrays are faster than dicts
NO_CURVE: Curve = ([], np.empty(0))
FIRST = 128  # positions of a curve that are made at once; deeper ones when they are needed
ID_TYPES = frozenset((str, int))


class PointSums:
    """Sums of the points of a method over the lists of one query.

    The points of the first ranks are kept for every expert that had a list before. ``by_name`` sorts items with equal
    scores by name; else they stay in the order in which the lists have them.
    """

    __slots__ = ("_by_name", "_curves", "_points")

    def __init__(self, points: PositionPoints, *, by_name: bool = True) -> None:
        self._points, self._by_name = points, by_name
        self._curves: dict[str, Curve] = {}

    def __call__(self, lists: Mapping[Any, Any], *, checked: bool = False, many: int = MANY) -> dict[Any, float] | None:
        """The sums, best first; None where a list is not plain, so that its shape must be looked at first.

        From ``many`` entries on they are added up by arrays.
        """
        found = self._items_and_points(lists, checked)
        if found is None:
            return None
        items, points = found
        try:
            if sum(map(len, items)) < many:
                return _sum_by_loop(items, points, self._by_name, self._points.share_ties, checked)
            return _sum_by_arrays(items, points, self._by_name, checked)
        except TypeError:  # what cannot be a key of a dict
            return None

    def _items_and_points(
        self, lists: Mapping[Any, Any], checked: bool
    ) -> tuple[list[Sequence[Any]], list[Curve]] | None:
        """The items of each list and, at least, as many points."""
        curves = self._curves
        all_items, all_points = [], []
        for expert in in_expert_order(tuple(lists)) if len(lists) > 2 and self._by_name else lists:
            if type(expert) is not str:
                return None
            items, ranks = lists[expert], None
            if type(items) is not list or (not checked and items and type(items[0]) not in ID_TYPES):
                items, ranks = in_rank_order(items, shared=self._points.share_ties)
                if items is None:
                    return None
            worst = ranks[-1] if ranks else len(items)
            points = curves.get(expert, NO_CURVE)
            if len(points[0]) < worst:
                points = curves[expert] = self._curve(expert, np.arange(1.0, max(FIRST, 2 * worst) + 1))
            all_items.append(items)
            all_points.append(self._points_of(expert, ranks, points) if ranks else points)
        return all_items, all_points

    def _points_of(self, expert: str, ranks: Sequence[float], points: Curve) -> Curve:
        if self._points.share_ties:
            return self._curve(expert, np.array(ranks))
        at_ranks = [points[0][rank - 1] for rank in ranks]  # type: ignore[call-overload]  # they are whole numbers
        return at_ranks, np.array(at_ranks)

    def _curve(self, expert: str, ranks: Floats) -> Curve:
        points = self._points.of(expert, ranks)
        return points.tolist(), points


def _sum_by_loop(
    lists: list[Sequence[Any]], points: list[Curve], by_name: bool, shared: bool, checked: bool
) -> dict[Any, float] | None:
    """Sums of points, best first; None where ids have several types, or repeat while ties go by appearance."""
    fused: dict[Any, float] = {}
    get, repeated = fused.get, 0
    for items, (worth, _) in zip(lists, points, strict=True):
        gains: Iterable[tuple[Any, float]] = zip(items, worth)  # noqa: B905 (there are at least as many points)
        if not fused:
            fused.update(gains)
            if len(fused) == len(items):
                continue
            fused.clear()
        if again := len(items) - len(set(items)):
            repeated += again
            gains = _points_of_first(items, worth, shared).items()
        for item, gained in gains:
            fused[item] = get(item, 0.0) + gained
    of_type = common_type(fused, lists)
    if (of_type is None and not checked) or (repeated and not by_name):
        return None
    if repeated:
        warn_of_repetitions(repeated)
    return best_first(fused, of_type, by_name)


def _points_of_first(items: Sequence[Any], worth: list[float], shared: bool) -> dict[Any, float]:
    """The points of each item where it is first in its list; places, which ``shared`` is for, leave no gaps."""
    if shared:
        return dict(zip(dict.fromkeys(items), worth, strict=False))
    return dict(zip(reversed(items), reversed(worth[: len(items)]), strict=True))  # of equal keys, the last stays


def _sum_by_arrays(
    lists: list[Sequence[Any]], points: list[Curve], by_name: bool, checked: bool
) -> dict[Any, float] | None:
    """The same for many entries: items become numbers, and numpy adds in the same order."""
    sizes = list(map(len, lists))
    code: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(code.__getitem__, chain.from_iterable(lists)), np.int64, sum(sizes))
    of_list = np.repeat(np.arange(len(lists)) * len(code), sizes)
    of_type = common_type(code, lists)
    if (of_type is None and not checked) or np.bincount(codes + of_list).max() > 1:
        return None
    worth = [array[:size] for (_, array), size in zip(points, sizes, strict=True)]
    scores = np.bincount(codes, np.concatenate(worth))
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    names = list(map(list(code).__getitem__, order.tolist()))
    ends = np.flatnonzero(np.append(scores[1:] != scores[:-1], True)) + 1
    if by_name and len(ends) < len(scores):
        starts = np.append(0, ends[:-1])
        tied = ends - starts > 1
        for start, end in zip(starts[tied].tolist(), ends[tied].tolist(), strict=True):
            names[start:end] = in_natural_order(names[start:end], of_type)
    return dict(zip(names, scores.tolist(), strict=True))
