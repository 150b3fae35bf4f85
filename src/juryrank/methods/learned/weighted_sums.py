"""The mean of a metric over queries ranked by weighted sums, as a function of the weights; the search for the best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Consensus
from juryrank.data.arrays import Floats, Ints
from juryrank.data.rankings import Rankings
from juryrank.kernels.ragged import children, descending_order, parents, sizes_to_ptr
from juryrank.learning.labelled import LabelledQueries
from juryrank.metrics import Truth, parse_metric
from juryrank.metrics.truth import ItemGrades, single_precision

RIVALS = 200  # items of a query that others are compared with; more would leave out little more
MOST_SCORES = 20_000_000  # in memory at once
Values = Callable[[Floats], Floats]  # of each row of weights
Moves = Callable[[Floats, int], Floats]  # weights with other values for one expert, one row each, preferred ones first

ROUNDING = 1e-12  # values that differ by less are equal
MOST_PASSES = 50  # over all experts; every change raises the value, and a few are enough


class WeightedSums:
    """Score = sum over experts of weight >= 0 × points, judged by the metric ``target`` as ``evaluate`` does.

    With a cutoff, items that cannot be among the first whatever the weights are left out beforehand; for this,
    ``points`` of the entries are enough that order the items of each list as all later points do. With
    ``unjudged="ignore"`` unjudged items are removed: the metric is that of condensed lists. Items without lists come
    last if ``unranked_last``, else their score is 0.
    """

    def __init__(
        self, queries: LabelledQueries, points: Floats, target: str, unjudged: str, *, unranked_last: bool = False
    ) -> None:
        r = self.rankings = queries.rankings
        self.metric, self.experts = parse_metric(target), queries.experts
        self.judged = Truth(queries.truth).judge(Consensus(r, np.zeros(r.n_slots)))  # in the order of ties
        used, by_name = np.ones(r.n_slots, bool), r.slots_by_name_descending
        if unjudged == "ignore":
            assert self.judged.labels is not None
            used[by_name] = self.judged.labels.value >= 0
        cutoff: int | None = getattr(self.metric, "cutoff", None)
        if cutoff is not None:
            used &= possibly_among_first(r, points, int(cutoff), used)
        self.position = np.flatnonzero(used[by_name])  # of the used slots in the order of ties
        self.column = np.full(r.n_slots, -1, np.int64)
        self.column[by_name[self.position]] = np.arange(len(self.position))
        size = np.bincount(parents(r.slot_ptr)[self.position], minlength=len(r))
        ranked = size if cutoff is None else np.minimum(size, int(cutoff))
        self.ptr, self.first_ptr = sizes_to_ptr(size), sizes_to_ptr(ranked)
        self.leaders = self._first(self.ptr)  # the first items of the last order
        self.last = np.flatnonzero(r.slot_lists[by_name[self.position]] == 0) if unranked_last else self.position[:0]
        self.row = np.repeat(queries.list_place(self.experts), r.list_size)

    def by_expert(self, points: Floats) -> Floats:
        """The points that the lists of each expert give to each used item, [n_experts, n_items]."""
        r, width = self.rankings, len(self.position)
        column = self.column[r.entry_slot]
        used = column >= 0
        weighted = (points * np.repeat(r.list_weight, r.list_size))[used]
        total = np.bincount(self.row[used] * width + column[used], weighted, minlength=len(self.experts) * width)
        return total.astype(np.float64).reshape(len(self.experts), width)

    def means(self, by_expert: Floats, weights: Floats) -> Floats:
        """The mean of the metric for each row of ``weights``, [n_rows, n_experts]."""
        at_once = max(1, MOST_SCORES // max(len(self.position), 1))
        parts = [weights[start : start + at_once] for start in range(0, len(weights), at_once)]
        return np.array([self._mean(scores) for part in parts for scores in part @ by_expert])

    def _first(self, ptr: Ints) -> Ints:
        """Positions of the items of each query that the metric looks at, where those of query q begin at ``ptr[q]``."""
        positions: Ints = np.repeat(ptr[:-1] - self.first_ptr[:-1], np.diff(self.first_ptr)) + np.arange(
            self.first_ptr[-1]
        )
        return positions

    def _mean(self, scores: Floats) -> float:
        compared = single_precision(scores)
        compared[self.last] = -np.inf
        # The first items are among those that are not below the worst of as many others; only these are sorted.
        worst = np.minimum.reduceat(compared[self.leaders], self.first_ptr[:-1])
        near = np.flatnonzero(compared >= np.repeat(worst, np.diff(self.ptr)))
        ptr, order = np.searchsorted(near, self.ptr), np.empty(len(near), np.int64)
        descending_order(ptr, compared[near], order)
        order = self.leaders = near[order[self._first(ptr)]]
        labels, reference = (
            _select(side, self.position[order]) for side in (self.judged.labels, self.judged.reference)
        )
        ranked = replace(self.judged, slot_ptr=self.first_ptr, score=scores[order], labels=labels, reference=reference)
        return float(np.nanmean(self.metric.per_query(ranked)))


def possibly_among_first(r: Rankings, points: Floats, depth: int, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """False for slots that no weighted sum with weights >= 0 ranks among the first ``depth`` of the used slots.

    A slot is always behind another if no list gives it more points and it comes second where scores are equal.
    """
    possible, by_name = np.ones(r.n_slots, bool), r.slots_by_name_descending
    for query, (start, stop) in enumerate(pairwise(r.slot_ptr.tolist())):
        slots = by_name[start:stop][used[by_name[start:stop]]]
        if len(slots) > RIVALS:
            given = _points_by_list(r, query, points)[:, slots - start]
            possible[slots] = _few_ahead(given, np.flatnonzero(r.slot_lists[slots]), depth)
    return possible


def _points_by_list(r: Rankings, query: int, points: Floats) -> Floats:
    """What each list of a query gives to its items, 0 to those that it leaves out, [n_lists, n_items]."""
    lists = np.arange(r.list_ptr[query], r.list_ptr[query + 1])
    entries = children(r.entry_ptr, lists)
    given = np.zeros((len(lists), int(r.query_size[query])))
    of_list = np.repeat(np.arange(len(lists)), r.list_size[lists])
    given[of_list, r.entry_slot[entries] - r.slot_ptr[query]] = points[entries]
    return given


def _few_ahead(given: Floats, ranked: Ints, depth: int) -> NDArray[np.bool_]:
    """Whether fewer than ``depth`` of the strongest ranked items are always ahead; items are in the order of ties."""
    rivals = ranked[np.argsort(-given[:, ranked].sum(axis=0), kind="stable")[:RIVALS]]
    ahead = rivals[:, None] < np.arange(given.shape[1])
    for points in given:
        ahead &= points[rivals, None] >= points
    few: NDArray[np.bool_] = ahead.sum(axis=0) < depth
    return few


def _select(grades: ItemGrades | None, positions: Ints) -> ItemGrades | None:
    return None if grades is None else replace(grades, value=grades.value[positions])


def is_better(value: float, other: float) -> bool:
    """Whether a value is larger than another by more than rounding."""
    return value > other + ROUNDING


def best_row(values: Values, rows: Floats) -> tuple[Floats, float]:
    """The row with the largest value, the first of equal ones, and its value."""
    found = values(rows)
    best = int(np.argmax(found >= found.max() - ROUNDING))
    return rows[best], float(found[best])


def coordinate_search(values: Values, start: Floats, moves: Moves) -> tuple[Floats, float]:
    """The weights that no change of one expert's weight improves, and their value."""
    weights, value = best_row(values, start[None])
    unchanged = 0
    for step in range(MOST_PASSES * len(start)):
        rows = moves(weights, step % len(start))
        found, higher = best_row(values, rows) if len(rows) else (weights, value)
        unchanged = 0 if is_better(higher, value) else unchanged + 1
        if not unchanged:
            weights, value = found, higher
        if unchanged >= len(start):
            break
    return weights, value
