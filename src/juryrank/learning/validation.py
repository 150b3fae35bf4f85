"""Validation: the target metric on queries that were not learned from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from juryrank.data import Consensus, Dataset
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.ragged import descending_order, parents
from juryrank.learning.labelled import LabelledQueries
from juryrank.learning.target import optimisable_metric
from juryrank.metrics import Metric, Truth
from juryrank.metrics.truth import ItemGrades

FEWEST_TO_SPLIT = 5  # labelled queries; fewer are not split, and choices are made on the training queries


class Validation:
    """The mean of a metric over the queries of a dataset with labels."""

    def __init__(self, truth: Dataset, metric: Metric) -> None:
        self.rankings, self.metric, self.truth = truth.rankings, metric, Truth(truth)

    def mean(self, scores: Floats) -> float:
        """The mean over queries, higher is better."""
        return float(np.nanmean(self.metric.per_query(self.truth.judge(Consensus(self.rankings, scores)))))


class PessimisticValidation:
    """The mean of an optimisable metric; of items with equal scores the worst comes first, so ties do not pay."""

    def __init__(self, queries: LabelledQueries, target: str) -> None:
        self.metric, self.slot_ptr = optimisable_metric(target), queries.rankings.slot_ptr
        self.worst_first = np.lexsort((queries.gains, parents(self.slot_ptr)))
        place = np.empty(len(self.worst_first))
        place[self.worst_first] = np.arange(len(place))
        self.judged = Truth(queries.truth).judge(Consensus(queries.rankings, -place))

    def mean(self, scores: Floats) -> float:
        """The mean over queries, higher is better."""
        order = np.empty(len(scores), np.int64)
        descending_order(self.slot_ptr, scores[self.worst_first], order)
        labels, reference = (_reorder(side, order) for side in (self.judged.labels, self.judged.reference))
        judged = replace(self.judged, labels=labels, reference=reference)
        return float(np.nanmean(self.metric.per_query(judged)))


def _reorder(grades: ItemGrades | None, order: Ints) -> ItemGrades | None:
    return None if grades is None else replace(grades, value=grades.value[order])


def split_validation(queries: LabelledQueries, seed: int) -> tuple[LabelledQueries, LabelledQueries]:
    """Training queries and a fifth for validation; both are all queries where these are few."""
    if len(queries) < FEWEST_TO_SPLIT:
        return queries, queries
    order = np.random.default_rng([seed, 1]).permutation(len(queries))
    held_out = np.sort(order[: len(order) // 5])
    return queries.take(np.setdiff1d(order, held_out)), queries.take(held_out)
