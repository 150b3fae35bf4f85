"""One query in plain Python: points by rank are added up with neither frames nor compiled code."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, count
from math import isfinite
from operator import gt, itemgetter
from typing import Any, NamedTuple

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.data.names import is_whole_number, natural_key
from juryrank.data.shapes import ItemList, as_texts
from juryrank.errors import warn_about_data
from juryrank.methods.points import PositionPoints

Curve = tuple[list[float], Floats]  # points of the ranks 1, 2, 3, …, twice: to loop over, and to add as an array

MANY = 400  # entries from which arrays are faster than dicts
NO_CURVE: Curve = ([], np.empty(0))
FIRST = 128  # positions of a curve that are made at once; deeper ones when they are needed
TEXT, WHOLE = frozenset((str,)), frozenset((int,))


class Ranked(NamedTuple):
    """Items in order, with the ranks that are left after repeated items were dropped."""

    items: list[Any]
    ranks: list[float]


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
        found = self._items_and_points(lists)
        if found is None:
            return None
        items, points = found
        try:
            if sum(map(len, items)) < many:
                return _sum_by_loop(items, points, self._by_name, checked)
            return _sum_by_arrays(items, points, self._by_name, checked)
        except TypeError:  # what cannot be a key of a dict
            return None

    def _items_and_points(self, lists: Mapping[Any, Any]) -> tuple[list[Sequence[Any]], list[Curve]] | None:
        """The items of each list and, at least, as many points."""
        curves = self._curves
        all_items, all_points = [], []
        for expert in _in_order(tuple(lists)) if len(lists) > 2 and self._by_name else lists:
            if type(expert) is not str:
                return None
            items, ranks = lists[expert], None
            if type(items) is not list:
                items, ranks = _ranked(items, self._points.share_ties)
                if items is None:
                    return None
            points = curves.get(expert, NO_CURVE)
            if len(points[0]) < len(items):
                points = curves[expert] = self._curve(expert, np.arange(1.0, max(FIRST, 2 * len(items)) + 1))
            all_items.append(items)
            all_points.append(self._curve(expert, np.array(ranks)) if ranks else points)
        return all_items, all_points

    def _curve(self, expert: str, ranks: Floats) -> Curve:
        points = self._points.of(expert, ranks)
        return points.tolist(), points


@lru_cache(maxsize=128)
def _in_order(experts: tuple[Any, ...]) -> list[Any]:
    """The order in which points are added, so that sums do not depend on the order of the lists."""
    return sorted(experts, key=natural_key)


def _ranked(listed: Any, shared: bool) -> tuple[Sequence[Any] | None, Sequence[float] | None]:
    """Items, and their ranks: nothing for 1, 2, 3, … of different items, None where the shape must be looked at.

    Tied scores have the smaller rank, or the mean of their places where ``shared``.
    """
    if not isinstance(listed, Mapping):
        if type(listed) is Ranked:
            return listed.items, () if shared else listed.ranks
        return (listed if type(listed) is tuple else None), None
    items, scores = list(listed), list(listed.values())
    try:
        falling = all(map(gt, scores, scores[1:]))  # most come in order, without ties
        if not falling:
            items.sort(key=listed.__getitem__, reverse=True)
            scores = list(map(listed.__getitem__, items))
            falling = all(map(gt, scores, scores[1:]))
        if scores and not (isfinite(scores[0]) and isfinite(scores[-1]) and (falling or isfinite(sum(scores)))):
            return None, None
    except (TypeError, ValueError, OverflowError):
        return None, None
    if falling:
        return items, ()
    first = {score: n for n, score in zip(range(len(scores), 0, -1), reversed(scores), strict=True)}
    if not shared:
        return items, [float(first[score]) for score in scores]
    last = {score: n for n, score in enumerate(scores, 1)}
    return items, [(first[score] + last[score]) / 2 for score in scores]


def _sum_by_loop(
    lists: list[Sequence[Any]], points: list[Curve], by_name: bool, checked: bool
) -> dict[Any, float] | None:
    """Sums of points, best first; None where an item stands twice in a list."""
    fused: dict[Any, float] = {}
    get = fused.get
    for items, (worth, _) in zip(lists, points, strict=True):
        if not fused:
            fused.update(zip(items, worth, strict=False))
            if len(fused) < len(items):
                return None
            continue
        if len(set(items)) < len(items):
            return None
        for item, gained in zip(items, worth, strict=False):
            fused[item] = get(item, 0.0) + gained
    of_type = _common_type(fused, lists)
    if of_type is None and not checked:
        return None
    tied = by_name and len(set(fused.values())) < len(fused)
    order = in_natural_order(fused, of_type) if tied else list(fused)  # of equal scores
    order.sort(key=fused.__getitem__, reverse=True)
    return dict(zip(order, map(fused.__getitem__, order)))  # noqa: B905 (strict costs time, and the two are as long)


def _sum_by_arrays(
    lists: list[Sequence[Any]], points: list[Curve], by_name: bool, checked: bool
) -> dict[Any, float] | None:
    """The same for many entries: items become numbers, and numpy adds in the same order."""
    sizes = list(map(len, lists))
    code: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(code.__getitem__, chain.from_iterable(lists)), np.int64, sum(sizes))
    of_list = np.repeat(np.arange(len(lists)) * len(code), sizes)
    of_type = _common_type(code, lists)
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


def _common_type(distinct: Mapping[Any, Any], lists: list[Sequence[Any]]) -> type | None:
    """``str`` where all items are text, ``int`` where all are integers, else None."""
    try:
        if type(next(iter(distinct), "")) is not int:
            "".join(distinct)  # the fastest way to look at every type
            return str
        if type(sum(distinct)) is not int:
            return None
    except TypeError:
        return None
    if (0 in distinct or 1 in distinct) and not WHOLE.issuperset(map(type, chain.from_iterable(lists))):
        return None  # False and True equal them, and are no ids
    return int


def in_natural_order(items: Iterable[Any], of_type: type | None) -> list[Any]:
    """Items in the natural order of their names: whole numbers by value and first, then text by code point."""
    if of_type is None:
        return sorted(items, key=natural_key)
    if of_type is int:
        numbers = sorted(items)
        return numbers if numbers[0] >= 0 and numbers[-1] < 10**18 else sorted(numbers, key=natural_key)
    names = sorted(items)
    start = bisect_left(names, "0")
    stop = bisect_left(names, ":", start)  # what follows the digits
    if start == stop:
        return names
    whole = list(filter(is_whole_number, names[start:stop]))
    rest = [name for name in names[start:stop] if not is_whole_number(name)]
    return [*sorted(whole, key=len), *names[:start], *rest, *names[stop:]]  # longer numbers are larger


def without_repetitions(lists: Mapping[str, ItemList]) -> dict[str, Any]:
    """The lists for ``PointSums``, without missing numbers and repeated items; both are counted in warnings."""
    own = as_texts([item for listed in lists.values() for item in listed.items])[1]
    out: dict[str, Any] = {}
    missing = repeated = 0
    for expert, (given, numbers) in lists.items():
        items = given if own is None else list(map(own.__getitem__, map(str, given)))
        if numbers is None:
            first: dict[Any, float] = {}
            for rank, item in enumerate(items, 1):
                first.setdefault(item, float(rank))
            repeated += len(items) - len(first)
            out[expert] = items if len(first) == len(items) else Ranked(list(first), list(first.values()))
            continue
        pairs = list(zip(items, numbers, strict=True))
        if not all(map(isfinite, numbers)):
            pairs = [pair for pair in pairs if isfinite(pair[1])]
            missing += len(items) - len(pairs)
        best = dict(pairs)
        if len(best) < len(pairs):
            repeated += len(pairs) - len(best)
            best = dict(sorted(pairs, key=itemgetter(1)))  # of equal keys, the last stays: the best
        out[expert] = best
    if missing:
        warn_about_data(f"the data: {missing} entries without a score are dropped")
    if repeated:
        warn_about_data(f"the data: {repeated} entries repeat an item of their list; the best is kept")
    return out
