"""Validation: the target metric on queries that were not learned from."""

from __future__ import annotations

import numpy as np

from juryrank.data import Consensus, Dataset
from juryrank.data.arrays import Floats
from juryrank.metrics import Metric, Truth
from juryrank.training.labelled_queries import LabelledQueries
from juryrank.training.target import optimisable_metric

FEWEST_TO_SPLIT = 5  # labelled queries; fewer are not split, and choices are made on the training queries


class Validation:
    """The mean of a metric over the queries of a dataset with labels."""

    def __init__(self, truth: Dataset, metric: Metric) -> None:
        self.rankings, self.metric, self.truth = truth.rankings, metric, Truth(truth)

    def mean(self, scores: Floats) -> float:
        """The mean over queries, higher is better."""
        return float(np.nanmean(self.metric.per_query(self.truth.judge(Consensus(self.rankings, scores)))))


class PessimisticValidation(Validation):
    """The mean of an optimisable metric; of items with equal scores the worst comes first, so ties do not pay."""

    def __init__(self, queries: LabelledQueries, target: str) -> None:
        super().__init__(queries.truth, optimisable_metric(target))
        self.gains = queries.gains

    def mean(self, scores: Floats) -> float:
        """The mean over queries, higher is better."""
        place = np.empty(len(scores))
        place[np.lexsort((self.gains, -scores))] = np.arange(len(scores))
        return super().mean(-place)


def split_validation(queries: LabelledQueries, seed: int) -> tuple[LabelledQueries, LabelledQueries]:
    """Training queries and a fifth for validation; both are all queries where these are few."""
    if len(queries) < FEWEST_TO_SPLIT:
        return queries, queries
    order = np.random.default_rng([seed, 1]).permutation(len(queries))
    held_out = np.sort(order[: len(order) // 5])
    return queries.take(np.setdiff1d(order, held_out)), queries.take(held_out)
