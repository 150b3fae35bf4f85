"""One query by the formula of a method, without a Dataset: compiled code reads the lists, else a loop of Python."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import chain
from math import isfinite
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.data.names import in_expert_order, in_natural_order
from juryrank.data.plain_lists import Dropped, PlainList
from juryrank.kernels.fuse import combine_lists, fuse_lists
from juryrank.methods.formula import Formula, ScoredEntries, add
from juryrank.tasks.fuse.detail import Detail

DEPTH = 128  # ranks that have points at first
MOST_KEPT = 1 << 17  # points that are kept, 1 MB: names of experts may come from strangers
TEXT = frozenset((str,))
Table = tuple[list[str], list[bytes]]  # experts in the order of adding up, and the points of their ranks 1, 2, 3, …


class FormulaSums:
    """The scores of the items of one query.

    Items with equal scores are in the order of their names, unless the method leaves them as the lists have them.
    """

    __slots__ = ("_by_name", "_is_sum", "_n_kept", "_tables", "formula")

    def __init__(self, formula: Formula, *, by_name: bool = True) -> None:
        self.formula, self._by_name = formula, by_name
        self._is_sum = by_name and formula.rule in ("sum", "mean") and not formula.negated
        self._tables: dict[tuple[Any, ...], Table | None] = {}
        self._n_kept = 0

    def compiled(self, lists: Mapping[Any, Any], dropped: Dropped, top: int | None = None) -> dict[Any, float] | None:
        """The ``top`` scores, best first; None where the shape of a list must be looked at."""
        if self.formula.points is not None:
            added: dict[Any, float] | None = self._add_points(lists, dropped, top, detailed=False)
            return added
        if not self._is_sum or self.formula.numbers_of_all is None or not TEXT.issuperset(map(type, lists)):
            return None
        order = in_expert_order(tuple(lists))
        weights = [self.formula.weights.get(expert, self.formula.others) for expert in order]
        if not weights or min(weights) <= 0.0:
            return None
        return combine_lists([lists[expert] for expert in order], partial(self._combine, weights), top, dropped)

    def detailed(self, lists: Mapping[str, Any], top: int | None = None) -> Detail | None:
        """The same with ranks and contributions, for sums of points; None also where entries would be dropped."""
        if self.formula.points is None:
            return None
        found = self._add_points(lists, None, top, detailed=True)
        return None if found is None else Detail(*found)

    def __call__(self, lists: Mapping[str, PlainList], top: int | None = None) -> dict[Any, float] | None:
        """The ``top`` scores, best first, of lists that have been cleaned; None where one is too large for a number."""
        if self.formula.points is not None or self.formula.numbers_of_all is not None:
            as_given = {expert: _as_python_has_it(listed) for expert, listed in lists.items() if listed.items}
            if (fused := self.compiled(as_given, Dropped(), top)) is not None:
                return fused
        return self.by_loop(lists, top)

    def by_loop(self, lists: Mapping[str, PlainList], top: int | None = None) -> dict[Any, float] | None:
        """The same without compiled code."""
        lists = {expert: listed for expert, listed in lists.items() if listed.items}
        appearance = not self._by_name and self.formula.points is not None
        fused = self.formula.scores(lists if appearance else {e: lists[e] for e in in_expert_order(tuple(lists))})
        if not isfinite(sum(fused.values())):
            return None
        if self._by_name:
            order = in_natural_order(fused)
        else:
            order = list(dict.fromkeys(chain.from_iterable(listed.by_rank().items for listed in lists.values())))
        order.sort(key=fused.__getitem__, reverse=True)
        return {item: fused[item] for item in order[:top]}

    def _add_points(self, lists: Mapping[Any, Any], dropped: Dropped | None, top: int | None, *, detailed: bool) -> Any:
        experts = tuple(lists)
        try:
            table = self._tables[experts]
        except KeyError:
            table = self._make_table(experts, DEPTH)
        while table is not None:
            found = fuse_lists(lists, *table, top, dropped, self._by_name, self.formula.share_ties, detailed)
            if type(found) is not int:
                return found
            table = self._make_table(experts, found)
        return None

    def _make_table(self, experts: tuple[Any, ...], depth: int) -> Table | None:
        """The points of at least this many ranks; None where the names are no text."""
        table = None
        ranks = np.arange(1.0, 2 ** max(depth - 1, DEPTH - 1).bit_length() + 1)
        if TEXT.issuperset(map(type, experts)):
            order = list(in_expert_order(experts) if self._by_name else experts)
            table = order, [np.asarray(self.formula.of(name, ranks), np.float64).tobytes() for name in order]
        size = len(ranks) * max(1, len(experts))
        if size + self._n_kept > MOST_KEPT:
            self._tables.clear()
            self._n_kept = 0
        if size <= MOST_KEPT:
            self._n_kept += size
            self._tables[experts] = table
        return table

    def _combine(self, weights: list[float], score: bytes, item: bytes, ptr: bytes, n: int, tied: bool) -> bytes | None:
        """The scores of all ``n`` items; ``weights`` are those of the lists, ``item`` has the item of each entry."""
        entries = ScoredEntries(np.frombuffer(score), np.frombuffer(ptr, np.int64), n, tied)
        with np.errstate(over="ignore", invalid="ignore"):
            fused = _combine_entries(self.formula, weights, entries, np.frombuffer(item, np.int64))
            return fused.tobytes() if fused is not None and isfinite(np.add.reduce(fused)) else None


def _combine_entries(formula: Formula, weights: list[float], entries: ScoredEntries, item: Ints) -> Floats | None:
    """The weighted sums or means of the numbers of the entries, times a factor; None where it is left to a loop."""
    assert formula.numbers_of_all is not None
    n, size = entries.n_items, entries.ptr[1:] - entries.ptr[:-1]
    if (found := formula.numbers_of_all(entries)) is None:
        return None
    numbers, others = found
    of_entry = None if min(weights) == 1.0 == max(weights) else np.repeat(weights, size)
    if others is not None:
        numbers = numbers - others.repeat(size)
    fused: Any = numbers if of_entry is None else of_entry * numbers
    if others is None:
        fused = np.bincount(item, fused, n)
    else:  # what all items get, and then what each list adds
        base = add(weight * other for weight, other in zip(weights, others.tolist(), strict=True))
        fused = np.bincount(np.append(np.arange(n), item), np.append(np.full(n, base), fused))
    if formula.factor is not None or (formula.rule == "mean" and others is None):
        listed = np.bincount(item, of_entry, n).astype(np.float64)
    if formula.rule == "mean":
        fused = fused / (listed if others is None else add(weights))
    scores: Floats = fused if formula.factor is None else fused * formula.factor(listed)
    return scores


def _as_python_has_it(listed: PlainList) -> Any:
    """What compiled code reads of a cleaned list; one that it would read as another stays what it does not read."""
    items, scored, ranks = listed
    if scored is not None:
        return scored
    return items if ranks is None and type(next(iter(items), "")) in (str, int) else listed  # ids may be pairs
