"""Boosting: a forest grown by a library on the labelled queries, its size chosen on validation queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.ragged import parents
from juryrank.learning.baseline import rrf_scores
from juryrank.learning.labelled import LabelledQueries
from juryrank.learning.validation import PessimisticValidation, split_validation
from juryrank.methods.learned.forest import Forest

STEP = 5  # trees between two evaluations on the validation queries
ToColumns = Callable[[Dataset], Floats]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The training data of a library: slots query by query, in an order that does not depend on names."""

    x: Floats  # [n_rows, n_columns], NaN where an expert did not rank the item
    gains: Floats  # [n_rows]
    sizes: Ints  # [n_queries] rows of each query

    @classmethod
    def of(cls, queries: LabelledQueries, to_columns: ToColumns, most: int = 1000) -> TrainingRows:
        """At most so many rows of each query: slots with a gain first, then the others in RRF's order."""
        r = queries.rankings
        query = parents(r.slot_ptr)
        first = np.lexsort((-rrf_scores(r), queries.gains <= 0, queries.weights <= 0, query))
        place = np.arange(len(first)) - r.slot_ptr[query[first]]
        slots = first[(place < most) & (queries.weights[first] > 0)]
        x = to_columns(queries.data)[slots]
        order = np.lexsort((*x.T, queries.gains[slots], query[slots]))
        sizes = np.bincount(query[slots], minlength=len(queries))
        return cls(x[order], queries.gains[slots][order], sizes[sizes > 0])


@dataclass(frozen=True)
class Boosting:
    """Grows a forest with a library, and prunes it to the best number of trees on validation queries."""

    grow: Callable[[TrainingRows, int], Forest]  # takes the number of trees
    trees: int
    target: str
    seed: int
    unjudged: str
    to_columns: ToColumns

    def run(self, data: Dataset, valid: Dataset | None) -> Forest:
        """Train with the number of trees chosen on ``valid``, or on a fifth of the queries before training on all."""
        queries = LabelledQueries.of(data, self.unjudged).require("boosted", data)
        validation = None if valid is None else LabelledQueries.of(valid, self.unjudged)
        if validation is not None and len(validation):
            return self._grow_and_cut(queries, validation)
        training, validation = split_validation(queries, self.seed)
        forest = self._grow_and_cut(training, validation)
        if training is validation:
            return forest
        return self.grow(TrainingRows.of(queries, self.to_columns), len(forest))

    def _grow_and_cut(self, training: LabelledQueries, validation: LabelledQueries) -> Forest:
        forest = self.grow(TrainingRows.of(training, self.to_columns), self.trees)
        metric, r = PessimisticValidation(validation, self.target), validation.rankings
        x, scores, values = self.to_columns(validation.data), np.zeros(r.n_slots), []
        for n in range(0, len(forest), STEP):
            forest.add_scores(x, r.slot_ptr, scores, slice(n, n + STEP))
            values.append(metric.mean(scores))
        return forest.first(min(STEP * (int(np.argmax(values)) + 1), len(forest)))
