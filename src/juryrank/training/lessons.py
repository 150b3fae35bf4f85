"""What labelled queries teach about position curves, as sums that add up: Gram matrices of centred features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset
from juryrank.data.rankings import Floats, Ints, Rankings
from juryrank.errors import DataError
from juryrank.kernels.gains import mean_places
from juryrank.kernels.gram import centred, products
from juryrank.kernels.positional import add_points
from juryrank.kernels.ragged import children, parents, sizes_to_ptr
from juryrank.training.dense import cross_product
from juryrank.training.gains import slot_gains

RRF_K = 60.0
DEEPEST = 1000  # unjudged items further down RRF's order teach nothing
HALF_WEIGHT_AT = 50.0  # the place in RRF's order where an unjudged item counts half as much as a judged one
ROWS_AT_ONCE = 1 << 23  # numbers of features held at once: 64 MB
WIDE = 200  # columns from which a matrix product pays for the threads that it starts
GRAMS_AT_ONCE = 1 << 17  # numbers of Gram matrices held at once: they stay in the processor's cache


@dataclass(frozen=True, eq=False)
class Lessons:
    """The labelled queries of a data set: their gains, and how much each slot counts (0: not at all)."""

    data: Dataset
    gains: Floats  # [n_slots]
    weights: Floats  # [n_slots]

    def __len__(self) -> int:
        return len(self.data)

    def take(self, chosen: Ints) -> Lessons:
        """The lessons of the chosen queries, in that order."""
        slots = children(self.data.rankings.slot_ptr, chosen)
        return Lessons(self.data.take(chosen), self.gains[slots], self.weights[slots])

    def grams(
        self, entry_points: Floats, list_column: Ints, n_columns: int, parts: Ints
    ) -> Iterator[tuple[int, Floats]]:
        """Blocks of parts of the queries (``parts`` are offsets): the first part's number, and a Gram matrix each.

        ``entry_points`` are [n_entries, n_curves]; the columns of a matrix are curve by curve of column 0, of column 1,
        and so on, then the gain.
        """
        width = n_columns * entry_points.shape[1] + 1
        step = max(1, GRAMS_AT_ONCE // width**2)
        for begin, end, row_ptr, z in self._rows(entry_points, list_column, width, parts):
            for part in range(begin, end, step):
                some = parts[part : min(part + step, end) + 1]
                yield part, _products(row_ptr[some - parts[begin]], z)

    def _rows(
        self, entry_points: Floats, list_column: Ints, width: int, parts: Ints
    ) -> Iterator[tuple[int, int, Ints, Floats]]:
        """Blocks of parts, as many as fit in memory: first and last, offsets of rows by query, centred features."""
        r = self.data.rankings
        row_ptr = sizes_to_ptr(self.weights > 0)[r.slot_ptr]
        points = entry_points * np.repeat(r.list_weight, r.list_size)[:, None]
        begin = 0
        while begin < len(parts) - 1:
            fit = np.searchsorted(row_ptr[parts], row_ptr[parts[begin]] + ROWS_AT_ONCE // width, side="right") - 1
            end = max(int(fit), begin + 1)
            here = slice(parts[begin], parts[end] + 1)
            rows = row_ptr[here] - row_ptr[parts[begin]]
            z = np.zeros((rows[-1], width))
            centred(
                r.slot_ptr[here], rows, r.list_ptr[here], r.entry_ptr, r.entry_slot, points, list_column,
                self.weights, self.gains, z,
            )  # fmt: skip
            yield begin, end, rows, z
            begin = end


def _products(row_ptr: Ints, z: Floats) -> Floats:
    width = z.shape[1]
    if width >= WIDE:
        return np.stack([cross_product(z[a:b], z[a:b]) for a, b in pairwise(row_ptr)])
    out = np.empty((len(row_ptr) - 1, width, width))
    products(row_ptr - row_ptr[0], z[row_ptr[0] : row_ptr[-1]], out)
    return out


def lessons_of(data: Dataset, unjudged: str) -> Lessons:
    """The queries whose gains differ, with weights: 1 if judged; an unjudged item is irrelevant, but less surely so.

    With ``unjudged="ignore"``, and where the truth is a reference ranking or pairs, unjudged items do not count.
    """
    gains = slot_gains(data)
    judged = ~np.isnan(gains)
    said = np.bincount(parents(data.rankings.slot_ptr)[judged], minlength=len(data)) > 0
    if not said.all():
        data, (gains, judged) = _taken(data, said, gains, judged)
    weights = judged.astype(np.float64)
    if unjudged == "irrelevant" and data.labels is not None:
        place = rrf_places(data.rankings)
        near = ~judged & (place <= DEEPEST)
        weights[near] = HALF_WEIGHT_AT / (HALF_WEIGHT_AT + place[near])
    gains = np.where(judged, gains, 0.0)
    differ = _differ(data.rankings, gains, weights > 0)
    if not differ.all():
        data, (gains, weights) = _taken(data, differ, gains, weights)
    return Lessons(data, gains, weights)


def lessons_or_error(name: str, data: Dataset, unjudged: str) -> Lessons:
    """As ``lessons_of``; an error where the method of that name would learn from no query."""
    lessons = lessons_of(data, unjudged)
    if not len(lessons):
        raise nothing_to_learn(name, data)
    return lessons


def nothing_to_learn(name: str, data: Dataset) -> DataError:
    """The error for data whose labels teach a method nothing."""
    judged = int((~np.isnan(slot_gains(data))).sum())
    text = f"of {data.rankings.n_slots} ranked items in {len(data)} queries {judged} are judged"
    return DataError(f"{name}: no query has lists and labels that differ, so there is nothing to learn: {text}")


def rrf_scores(rankings: Rankings) -> Floats:
    """Reciprocal rank fusion with k = 60."""
    return sum_of_points(rankings, 1.0 / (RRF_K + rankings.entry_rank))


def sum_of_points(rankings: Rankings, entry_points: Floats) -> Floats:
    """The points of each slot's entries, times the weights of their lists."""
    r, out = rankings, np.zeros(rankings.n_slots)
    add_points(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, entry_points, np.zeros(r.n_lists), r.list_weight, out)
    return out


def rrf_places(rankings: Rankings) -> Floats:
    """The place of each slot in RRF's order of its query, 1 is best; ties share."""
    out = np.empty(rankings.n_slots)
    mean_places(rankings.slot_ptr, rrf_scores(rankings), out)
    return out


def _differ(rankings: Rankings, gains: Floats, counts: NDArray[np.bool_]) -> NDArray[np.bool_]:
    query = parents(rankings.slot_ptr)[counts]
    low, high = np.full(len(rankings), np.inf), np.full(len(rankings), -np.inf)
    np.minimum.at(low, query, gains[counts])
    np.maximum.at(high, query, gains[counts])
    differ: NDArray[np.bool_] = high > low
    return differ


def _taken(data: Dataset, kept: NDArray[np.bool_], *slot_values: NDArray[Any]) -> tuple[Dataset, list[NDArray[Any]]]:
    chosen = np.flatnonzero(kept)
    slots = children(data.rankings.slot_ptr, chosen)
    return data.take(chosen), [value[slots] for value in slot_values]
