"""One query in plain Python: points by rank are added up with neither frames nor compiled code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any, NamedTuple

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.methods.combination import ranks_of_falling
from juryrank.methods.points import PositionPoints
from juryrank.serving.cleaning import ID_TYPES, Dropped, PlainList, order_by_score, read_scores
from juryrank.serving.order import best_first, common_type, in_expert_order, in_natural_order

Curve = tuple[list[float], Floats]  # points of the ranks 1, 2, 3, …, twice: to loop over, and to add as an array

MANY = 600  # entries from which arrays are faster than dicts
NO_CURVE: Curve = ([], np.empty(0))
FIRST = 128  # positions of a curve that are made at once; deeper ones when they are needed


class Gains(NamedTuple):
    """What a list adds: its items and, at least, as many points; whether the items are known to be different."""

    items: Sequence[Any]
    worth: Sequence[float]
    array: Floats | None
    distinct: bool


class PointSums:
    """Sums of the points of a method over the lists of one query.

    The points of the first ranks are kept for every expert that had a list before. ``by_name`` sorts items with equal
    scores by name; else they stay in the order in which the lists have them.
    """

    __slots__ = ("_by_name", "_curves", "_points")

    def __init__(self, points: PositionPoints, *, by_name: bool = True) -> None:
        self._points, self._by_name = points, by_name
        self._curves: dict[str, Curve] = {}

    def __call__(
        self, lists: Mapping[Any, Any], dropped: Dropped, *, checked: bool = False, many: int = MANY
    ) -> dict[Any, float] | None:
        """The sums, best first; None where a list is not plain, so that its shape must be looked at first.

        From ``many`` entries on they are added up by arrays.
        """
        gains, n_entries = [], 0
        try:
            for expert in in_expert_order(tuple(lists)) if len(lists) > 2 and self._by_name else lists:
                if type(expert) is not str:
                    return None
                items = lists[expert]
                if type(items) is list and items and type(items[0]) in ID_TYPES:
                    gained = Gains(items, *self._curve(expert, len(items)), False)
                elif (found := self._read(items, expert, dropped)) is None:
                    return None
                else:
                    gained = found
                gains.append(gained)
                n_entries += len(gained.items)
            fused = _sum_by_arrays(gains, self._by_name, checked) if n_entries >= many else None
            return self._sum_by_loop(gains, dropped, checked) if fused is None else fused
        except (TypeError, ValueError, OverflowError):  # what cannot be a key of a dict, or is no number
            return None

    def _read(self, listed: Any, expert: str, dropped: Dropped) -> Gains | None:
        """The items of a list, the best first, and their points."""
        ranks: Sequence[float] | None = None
        if type(listed) is PlainList:
            items, scored, ranks = listed
        elif not listed or (type(listed) is tuple and type(listed[0]) in ID_TYPES):
            items, scored = listed, None
        elif (scored := read_scores(listed, expert, dropped)) is None:
            return None
        ties: Sequence[float] = ranks or ()
        if scored is not None:
            items, ties = order_by_score(scored, dropped)
        if not ties:
            return Gains(items, *self._curve(expert, len(items)), type(listed) is not tuple)
        if self._points.share_ties:
            ranks = ranks_of_falling(ties, shared=True)
        if ranks is not None:
            array = self._points.of(expert, np.array(ranks, np.float64))
            return Gains(items, array.tolist(), array, True)
        worth, _ = self._curve(expert, len(items))
        first = dict(zip(reversed(ties), reversed(worth[: len(ties)]), strict=True))  # of equal keys, the last stays
        return Gains(items, list(map(first.__getitem__, ties)), None, True)

    def _curve(self, expert: str, size: int) -> Curve:
        """The points of at least this many ranks."""
        curve = self._curves.get(expert, NO_CURVE)
        if len(curve[0]) < size:
            points = self._points.of(expert, np.arange(1.0, max(FIRST, 2 * size) + 1))
            curve = self._curves[expert] = points.tolist(), points
        return curve

    def _sum_by_loop(self, gains: list[Gains], dropped: Dropped, checked: bool) -> dict[Any, float] | None:
        """The sums, best first; None where ids have several types, or repeat while ties go by appearance."""
        fused: dict[Any, float] = {}
        get, repeated = fused.get, 0
        for items, worth, _, distinct in gains:
            added: Iterable[tuple[Any, float]] = zip(items, worth)  # noqa: B905 (there are at least as many points)
            if not fused:
                fused.update(added)
                if len(fused) == len(items):
                    continue
                fused.clear()
            if not distinct and (again := len(items) - len(set(items))):
                repeated += again
                added = self._points_of_first(items, worth).items()
            for item, gained in added:
                fused[item] = get(item, 0.0) + gained
        of_type = common_type(fused, [of.items for of in gains])
        if (of_type is None and not checked) or (repeated and not self._by_name):
            return None
        dropped.repeated += repeated
        return best_first(fused, of_type, self._by_name)

    def _points_of_first(self, items: Sequence[Any], worth: Sequence[float]) -> dict[Any, float]:
        """The points of each item where it is first in its list; places leave no gaps."""
        if self._points.share_ties:
            return dict(zip(dict.fromkeys(items), worth, strict=False))
        return dict(zip(reversed(items), reversed(worth[: len(items)]), strict=True))  # of equal keys, the last stays


def _sum_by_arrays(gains: list[Gains], by_name: bool, checked: bool) -> dict[Any, float] | None:
    """The same for many entries, if no list has an id twice: items become numbers, and numpy adds in the same order."""
    lists = [of.items for of in gains]
    sizes = list(map(len, lists))
    code: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(code.__getitem__, chain.from_iterable(lists)), np.int64, sum(sizes))
    of_list = np.repeat(np.arange(len(lists)) * len(code), sizes)
    of_type = common_type(code, lists)
    if (of_type is None and not checked) or np.bincount(codes + of_list).max() > 1:
        return None
    worth = [
        (np.array(of.worth) if of.array is None else of.array)[:size] for of, size in zip(gains, sizes, strict=True)
    ]
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
