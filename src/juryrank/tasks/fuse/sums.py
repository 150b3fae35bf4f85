"""One query: points by rank are added up by compiled code that reads Python's lists, or by Python itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, count
from math import isfinite
from operator import gt, itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.methods.combination import ranks_by
from juryrank.methods.points import PositionPoints
from juryrank.tasks.fuse.cleaning import ID_TYPES, Dropped, PlainList, finite_scores, read_scores
from juryrank.tasks.fuse.order import best_first, common_type, in_expert_order, in_natural_order
from juryrank.tasks.fuse.point_tables import PointTables
from juryrank.tasks.fuse.python_lists import Found, room_of_thread

if TYPE_CHECKING:
    from juryrank.tasks.fuse.json_lists import JsonRoom, JsonSums

Curve = tuple[list[float], Floats]  # points of the ranks 1, 2, 3, …, twice: to loop over, and to add as an array

BestWithRanks = tuple[dict[Any, float], Iterable[str], list[int]]

MANY = 600  # entries from which arrays are faster than dicts
NO_CURVE: Curve = ([], np.empty(0))
FIRST = 128  # positions of a curve that are made at once; deeper ones when they are needed
MOST_POINTS = 1_000_000  # that are kept, about 40 MB: names of experts may come from strangers


# What a list adds: its items and, at least, as many points, as a list and, where there is one, as an array, else as the
# same list; and whether the items are known to be different. A plain tuple, because a NamedTuple takes longer to make.
Gains = tuple[Sequence[Any], Sequence[float], Sequence[float] | Floats, bool]


class PointSums:
    """Sums of the points of a method over the lists of one query.

    The points of the first ranks are kept for the experts that had a list before. ``by_name`` sorts items with equal
    scores by name; else they stay in the order in which the lists have them.
    """

    __slots__ = ("_by_name", "_curves", "_may_repeat", "_may_tie", "_n_kept", "_points", "_tables")

    def __init__(self, points: PositionPoints, *, by_name: bool = True) -> None:
        self._points, self._by_name = points, by_name
        self._may_tie = not points.share_ties  # else tied items have points between those of ranks
        self._may_repeat = by_name and self._may_tie  # else the points after an item that repeats are others
        self._tables = PointTables(points.of, by_name=by_name)
        self._curves: dict[str, Curve] = {}
        self._n_kept = 0

    def __call__(
        self,
        lists: Mapping[Any, Any],
        dropped: Dropped,
        top: int | None = None,
        *,
        checked: bool = False,
        compiled: bool = True,
        many: int = MANY,
    ) -> dict[Any, float] | None:
        """The ``top`` sums, best first; None where a list is not plain, so that its shape must be looked at first.

        Compiled code adds them up, unless it is told not to; where it cannot, a loop does, and from ``many`` entries on
        arrays.
        """
        if compiled and (found := self._sum_compiled(lists, top, checked=checked)) is not None:
            dropped.repeated += found.repeated
            if found.repeating:
                experts = self._in_order(lists)
                dropped.pairs = {experts[l]: lists[experts[l]] for l in found.repeating} | (dropped.pairs or {})
            if found.missing:
                dropped.count_missing([next(iter(found.scores))], found.missing)  # all ids have one type
            return found.scores
        try:
            if (gains := self._gather(lists, dropped)) is None:
                return None
            n_entries = sum([len(items) for items, _, _, _ in gains])
            add_up = self._sum_by_loop if n_entries < many else self._sum_by_arrays
            return add_up(gains, dropped, top, checked)
        except (TypeError, ValueError, ArithmeticError):  # no key of a dict, or no number
            return None

    def _gather(self, lists: Mapping[Any, Any], dropped: Dropped) -> list[Gains] | None:
        """What the lists add, without those that are empty; None where a list is not plain."""
        gains: list[Gains] = []
        for expert in self._in_order(lists):
            if type(expert) is not str:
                return None
            items = lists[expert]
            if type(items) is list and items and type(items[0]) in ID_TYPES:
                gains.append((items, *self._curve(expert, len(items)), False))
            elif (read := self._read(items, expert, dropped)) is None:
                return None
            elif len(read[0]):  # an error for what is empty and no list, such as None
                gains.append(read)
        return gains

    def _in_order(self, lists: Mapping[Any, Any]) -> Sequence[Any]:
        """The experts in the order in which their points are added, that of ``PointTables``."""
        return in_expert_order(tuple(lists)) if self._by_name else tuple(lists)

    def best_with_ranks(self, lists: Mapping[str, list[Any]], top: int) -> BestWithRanks | None:
        """The ``top`` sums, best first, the experts, and the ranks by these of each item.

        None where lists are not ids in order, an item repeats, or compiled code does not read them.
        """
        found = self._sum_compiled(lists, top, ranks=True)
        return None if found is None or found.ranks is None else (found.scores, self._in_order(lists), found.ranks)

    def of_json(self, room: JsonRoom) -> JsonSums:
        """The same sums over lists that are JSON text."""
        from juryrank.tasks.fuse.json_lists import JsonSums

        return JsonSums(self._points.of, by_name=self._by_name, room=room)

    def contributions(
        self, lists: Mapping[str, PlainList], ranks: Mapping[str, Mapping[Any, Any]], items: Collection[Any]
    ) -> dict[str, Mapping[Any, float]]:
        """The points of each list, at least for these items; ``ranks`` has the rank of every item of the lists."""
        out: dict[str, Mapping[Any, float]] = {}
        for expert, listed in lists.items():
            if listed.scored is None and listed.ranks is None:
                worth, rank = self._curve(expert, len(listed.items))[0], ranks[expert]
                if 4 * len(items) > len(rank):  # else it is faster not to look at all
                    out[expert] = dict(zip(listed.items, worth))  # noqa: B905 (there are at least as many points)
                else:
                    out[expert] = {item: worth[rank[item] - 1] for item in items if item in rank}
            elif (gains := self._read(listed, expert, Dropped())) is not None:
                out[expert] = dict(zip(gains[0], gains[1]))  # noqa: B905 (there are at least as many points)
        return out

    def _read(self, listed: Any, expert: str, dropped: Dropped) -> Gains | None:
        """The items of a list, in order unless some tie, and their points."""
        if type(listed) is PlainList:
            items, scored, ranks = listed
            if ranks is not None:
                by_place = self._points.share_ties
                return self._gains_at(expert, items, ranks_by([-n for n in ranks], shared=True) if by_place else ranks)
        elif not listed or (type(listed) is tuple and type(listed[0]) in ID_TYPES):
            return listed, *self._curve(expert, len(listed)), False
        elif (scored := read_scores(listed, expert, dropped)) is None:
            return None
        if scored is None:
            return items, *self._curve(expert, len(items)), True
        return self._gains_by_score(expert, scored, dropped)

    def _gains_by_score(self, expert: str, scored: Mapping[Any, Any], dropped: Dropped) -> Gains:
        scores = list(scored.values())
        if not scores or (all(map(gt, scores, scores[1:])) and isfinite(scores[0]) and isfinite(scores[-1])):
            return list(scored), *self._curve(expert, len(scores)), True  # most lists are in order, without ties
        if not all(map(isfinite, scores)):
            scored = finite_scores(scored, dropped)
            scores = list(scored.values())
        if len(set(scores)) == len(scores):
            items = sorted(scored, key=scored.__getitem__, reverse=True)
            return items, *self._curve(expert, len(items)), True
        if not self._by_name:
            scored = dict(sorted(scored.items(), key=itemgetter(1), reverse=True))
            scores = list(scored.values())
        if self._points.share_ties:
            return self._gains_at(expert, list(scored), ranks_by(scores, shared=True))
        worth = self._curve(expert, len(scores))[0][: len(scores)]
        first = dict(zip(sorted(scores), reversed(worth), strict=True))  # of equal scores, the best rank stays
        worth = list(map(first.__getitem__, scores))
        return list(scored), worth, worth, True

    def _gains_at(self, expert: str, items: Sequence[Any], ranks: Sequence[float]) -> Gains:
        array = self._points.of(expert, np.array(ranks, np.float64))
        return items, array.tolist(), array, True

    def _curve(self, expert: str, size: int) -> Curve:
        """The points of at least this many ranks."""
        curve = self._curves.get(expert, NO_CURVE)
        if len(curve[0]) < size:
            points = self._points.of(expert, np.arange(1.0, max(FIRST, 2 * size) + 1))
            if self._n_kept > MOST_POINTS:
                self._curves.clear()
                self._n_kept = 0
            self._n_kept += len(points)
            curve = self._curves[expert] = points.tolist(), points
        return curve

    def _sum_compiled(
        self, lists: Mapping[Any, Any], top: int | None, *, checked: bool = False, ranks: bool = False
    ) -> Found | None:
        """The sums by compiled code; None where it leaves them to Python."""
        if (table := self._tables(tuple(lists))) is None:
            return None
        sources = tuple(map(lists.__getitem__, table.order))
        if checked:
            sources = tuple(map(_as_python_has_it, sources))
        add_up = room_of_thread().add_up
        options = {"by_name": self._by_name, "may_tie": self._may_tie, "may_repeat": self._may_repeat, "ranks": ranks}
        while (found := add_up(sources, table, top, **options)) == "deep":
            if (table := self._tables.deepen(tuple(lists), table)) is None:
                return None
        return found

    def _sum_by_loop(
        self, gains: list[Gains], dropped: Dropped, top: int | None, checked: bool
    ) -> dict[Any, float] | None:
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
        of_type = common_type(fused, map(itemgetter(0), gains))
        if (of_type is None and not checked) or (repeated and not self._by_name):
            return None
        dropped.repeated += repeated
        same_curve = len(gains) > 1 and gains[0][1][:1] == gains[1][1][:1]  # so that items of one list each tie
        return best_first(fused, of_type, top, by_name=self._by_name, ties_likely=same_curve)

    def _points_of_first(self, items: Sequence[Any], worth: Sequence[float]) -> dict[Any, float]:
        """The points of each item where it is first in its list; places leave no gaps."""
        if self._points.share_ties:
            return dict(zip(dict.fromkeys(items), worth, strict=False))
        return dict(zip(reversed(items), reversed(worth[: len(items)]), strict=True))  # of equal keys, the last stays

    def _sum_by_arrays(
        self, gains: list[Gains], dropped: Dropped, top: int | None, checked: bool
    ) -> dict[Any, float] | None:
        """The same for many entries: items become numbers, and numpy adds in the same order."""
        lists = [items for items, _, _, _ in gains]
        sizes = list(map(len, lists))
        code: defaultdict[Any, int] = defaultdict(count().__next__)
        codes = np.fromiter(map(code.__getitem__, chain.from_iterable(lists)), np.int64, sum(sizes))
        of_type = common_type(code, lists)
        if of_type is None and not checked:
            return None
        in_list = np.repeat(np.arange(len(lists)), sizes)
        slot = in_list * len(code) + codes
        kept: Any = slice(None)
        if np.bincount(slot).max() > 1:
            kept = np.sort(np.unique(slot, return_index=True)[1])  # the first of each item in a list
            dropped.repeated += len(slot) - len(kept)
            if self._points.share_ties:  # places leave no gaps
                sizes = np.bincount(in_list[kept], minlength=len(lists)).tolist()
                codes, kept = codes[kept], slice(None)
        worth = [np.asarray(points)[:size] for (_, _, points, _), size in zip(gains, sizes, strict=True)]
        scores: Floats = np.bincount(codes[kept], np.concatenate(worth)[kept])  # type: ignore[assignment]
        return _best_first_of_arrays(list(code), scores, of_type, top, by_name=self._by_name)


def _as_python_has_it(listed: Any) -> Any:
    """What compiled code reads of a cleaned list; one that it would read as another stays what it does not read."""
    items, scored, ranks = listed
    if scored is not None:
        return scored
    return items if ranks is None and type(next(iter(items), "")) in ID_TYPES else listed  # ids may be pairs


def _best_first_of_arrays(
    items: list[Any], scores: Floats, of_type: type | None, top: int | None, *, by_name: bool
) -> dict[Any, float]:
    """As ``best_first``, for many items."""
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    names = list(map(items.__getitem__, order.tolist()))
    ends = np.flatnonzero(np.append(scores[1:] != scores[:-1], True)) + 1
    if by_name and len(ends) < len(scores):
        starts = np.append(0, ends[:-1])
        tied = ends - starts > 1
        for start, end in zip(starts[tied].tolist(), ends[tied].tolist(), strict=True):
            names[start:end] = in_natural_order(names[start:end], of_type)
    return dict(zip(names[:top], scores[:top].tolist(), strict=True))
