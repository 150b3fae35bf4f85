"""Boosted trees: a forest as plain arrays, how many of its trees to keep, and the slots that it learns from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset
from juryrank.data.rankings import Floats, Ints
from juryrank.kernels.ragged import parents
from juryrank.kernels.trees import tree_scores
from juryrank.training.lessons import Lessons, lessons_of, lessons_or_error, rrf_scores
from juryrank.training.referee import Referee, split_off

DEEPEST = 1000  # slots of a query that teach: those with a gain, and of the others the first in RRF's order
STEP = 5  # trees between two looks at the validation queries
ToColumns = Callable[[Dataset], Floats]


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees one after the other, their nodes numbered through; a child comes after its parent."""

    root: Ints  # [n_trees]
    feature: Ints  # [n_nodes]
    threshold: Floats  # [n_nodes] smaller or equal goes left
    left: Ints  # [n_nodes] -1 at leaves
    right: Ints  # [n_nodes]
    missing_left: NDArray[np.bool_]  # [n_nodes]
    value: Floats  # [n_nodes] of leaves

    def __len__(self) -> int:
        return len(self.root)

    def fault(self, n_columns: int) -> str | None:
        """What is wrong where following it would lead outside of it, or never end."""
        inner = np.flatnonzero(self.left >= 0)
        for name, child in (("left_", self.left), ("right_", self.right)):
            if len(astray := inner[(child[inner] <= inner) | (child[inner] >= len(self.left))]):
                return f"{name} must lead from a node to a later one, found {child[astray[0]]} at node {astray[0]}"
        for name, index, end in (("root_", self.root, len(self.left)), ("feature_", self.feature[inner], n_columns)):
            if ((index < 0) | (index >= end)).any():
                return f"{name} must be from 0 to {end - 1}, found {index.min()} to {index.max()}"
        return None

    def first(self, n_trees: int) -> Forest:
        """The first trees."""
        end = int(self.root[n_trees]) if n_trees < len(self) else len(self.left)
        return Forest(
            self.root[:n_trees], self.feature[:end], self.threshold[:end], self.left[:end], self.right[:end],
            self.missing_left[:end], self.value[:end],
        )  # fmt: skip

    def add_scores(self, x: Floats, slot_ptr: Ints, out: Floats, trees: slice = slice(None)) -> None:
        """Add the score of some of the trees to each slot's."""
        tree_scores(
            slot_ptr, x, self.root[trees], self.feature, self.threshold, self.left, self.right, self.missing_left,
            self.value, out,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Rows:
    """What a library learns from: slots in an order that no name can change, query by query."""

    x: Floats  # [n_rows, n_columns], NaN where an expert did not rank the item
    gains: Floats  # [n_rows]
    sizes: Ints  # [n_queries] rows of each query

    @classmethod
    def of(cls, lessons: Lessons, to_columns: ToColumns) -> Rows:
        """The rows of the lessons, at most ``DEEPEST`` of a query."""
        r = lessons.data.rankings
        query = parents(r.slot_ptr)
        first = np.lexsort((-rrf_scores(r), lessons.gains <= 0, lessons.weights <= 0, query))
        place = np.arange(len(first)) - r.slot_ptr[query[first]]
        slots = first[(place < DEEPEST) & (lessons.weights[first] > 0)]
        x = to_columns(lessons.data)[slots]
        order = np.lexsort((*x.T, lessons.gains[slots], query[slots]))
        sizes = np.bincount(query[slots], minlength=len(lessons))
        return cls(x[order], lessons.gains[slots][order], sizes[sizes > 0])


@dataclass(frozen=True)
class Boosting:
    """How a forest is grown: by a library, and cut where validation queries say so."""

    grow: Callable[[Rows, int], Forest]  # so many trees
    trees: int
    target: str
    seed: int
    unjudged: str
    to_columns: ToColumns

    def run(self, data: Dataset, valid: Dataset | None) -> Forest:
        """Learn from ``data``, cut on ``valid``; without it, on a fifth of the queries, and then learn from all."""
        lessons = lessons_or_error("boosted", data, self.unjudged)
        chosen_on = None if valid is None else lessons_of(valid, self.unjudged)
        if chosen_on is not None and len(chosen_on):
            return self._grown(lessons, chosen_on)
        taught, held = split_off(lessons, self.seed)
        found = self._grown(taught, held)
        return found if taught is held else self.grow(Rows.of(lessons, self.to_columns), len(found))

    def _grown(self, lessons: Lessons, chosen_on: Lessons) -> Forest:
        forest = self.grow(Rows.of(lessons, self.to_columns), self.trees)
        referee, r = Referee(chosen_on, self.target), chosen_on.data.rankings
        x, scores, values = self.to_columns(chosen_on.data), np.zeros(r.n_slots), []
        for n in range(0, len(forest), STEP):
            forest.add_scores(x, r.slot_ptr, scores, slice(n, n + STEP))
            values.append(referee.value(scores))
        return forest.first(min(STEP * (int(np.argmax(values)) + 1), len(forest)))
