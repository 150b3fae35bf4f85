"""Experts as rows of a comparison: each expert alone, and the expert that is best on the training queries."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset, Fold
from juryrank.data.arrays import Floats, Ints
from juryrank.errors import DataError, UnknownNameError
from juryrank.learning.expert_lists import experts_alone
from juryrank.learning.held_out import judged_share
from juryrank.metrics import Metric, Truth

EXPERT_PREFIX = "expert:"
BEST_EXPERT = "best-expert"


def expert_label(expert: str) -> str:
    """The label of an expert's row.

    >>> expert_label("bm25")
    'expert:bm25'
    """
    return EXPERT_PREFIX + expert


def is_expert_label(label: str) -> bool:
    """Whether a label is that of an expert alone, or of the best expert."""
    return label == BEST_EXPERT or label.startswith(EXPERT_PREFIX)


class ExpertRows:
    """The values of each expert alone in all labelled queries; in a query that it does not rank, it has the value 0."""

    def __init__(
        self, data: Dataset, folds: Sequence[Fold], truths: Sequence[Truth], metrics: Sequence[Metric], convention: str
    ) -> None:
        known = sorted({query for truth in truths for query in truth.queries} | _labelled(data, folds))
        place = {query: q for q, query in enumerate(data.queries)}
        part = data.take(np.array([place[query] for query in known], np.int64))
        truth = Truth(part, truths[0].unjudged)
        row = {query: n for n, query in enumerate(truth.queries)}
        self._set_queries(
            data.experts,
            [np.array([row[query] for query in one.queries], np.int64) for one in truths],
            [np.array([row[name] for q in fold.train if (name := data.queries[q]) in row], np.int64) for fold in folds],
        )
        self.values, self.judged = expert_row_values(truth, part, metrics, convention)

    @classmethod
    def from_values(
        cls, experts: tuple[str, ...], test: Sequence[Ints], train: Sequence[Ints], values: Floats, judged: Floats
    ) -> ExpertRows:
        """From the values of labelled queries and the test and training queries of each fold among these."""
        rows = cls.__new__(cls)
        rows._set_queries(experts, test, train)
        rows.values, rows.judged = values, judged
        return rows

    def _set_queries(self, experts: tuple[str, ...], test: Sequence[Ints], train: Sequence[Ints]) -> None:
        self.experts, self.has_folds = experts, bool(train)
        self._test, self._train = test, train

    def labels(self) -> list[str]:
        """One per expert, and with folds one for the best."""
        return [*map(expert_label, self.experts), *([BEST_EXPERT] if self.has_folds else [])]

    def require(self, label: str) -> str:
        """The label; an error if there is no such expert."""
        if label == BEST_EXPERT and not self.has_folds:
            text = "is chosen on training queries: give folds (folds=5 in Python, --folds 5 on the command line)"
            raise DataError(f"{BEST_EXPERT} {text}")
        if label not in self.labels():
            raise UnknownNameError.of("expert row", label, self.labels())
        return label

    def parts(self, label: str) -> list[NDArray[np.float64]]:
        """The values of a row in the test queries of each fold, [n_metrics, n_queries]."""
        return [self.values[k][:, test] for k, test in zip(self._chosen(label), self._test, strict=True)]

    def judged_parts(self, label: str) -> list[Floats]:
        """Judged@10 of a row in the test queries of each fold."""
        return [self.judged[k][test] for k, test in zip(self._chosen(label), self._test, strict=True)]

    def _chosen(self, label: str) -> list[int]:
        """The expert of a row in each fold."""
        if label != BEST_EXPERT:
            return [self.experts.index(label.removeprefix(EXPERT_PREFIX))] * len(self._test)
        return [self._best(train) for train in self._train]

    def best(self) -> int | None:
        """The expert that is best on the test queries of all folds; None if there are no experts."""
        return self._best(np.concatenate(self._test)) if self.experts else None

    def first_metric(self) -> NDArray[np.float64]:
        """The values of the first metric in the test queries of all folds, [n_queries, n_experts]."""
        return self.values[:, 0, np.concatenate(self._test)].T

    def _best(self, queries: Ints) -> int:
        """The expert with the highest mean of the first metric, of equal ones the first by name."""
        values = self.values[:, 0, queries]
        sums = np.round(np.where(np.isnan(values), 0.0, values).sum(axis=1), 12)
        return min(range(len(self.experts)), key=lambda k: (-sums[k], self.experts[k]))


def expert_row_values(
    truth: Truth,
    data: Dataset,
    metrics: Sequence[Metric],
    convention: str,
    *,
    several: Collection[str] | None = None,
    by_rank: bool = False,
) -> tuple[Floats, Floats]:
    """The metrics, [n_experts, n_metrics, n_queries], and Judged@10 of each expert alone in the queries of the truth.

    Of a batch of more queries, ``several`` and ``by_rank`` mean the same as in ``JudgedAlternatives``.
    """
    shape = (len(data.experts), len(metrics), len(truth.queries))
    values, judged = np.zeros(shape), np.zeros((shape[0], shape[2]))
    alone = experts_alone(replace(data.rankings, entry_score=None) if by_rank else data.rankings, several)
    for k, name in enumerate(data.experts):
        one = truth.judge(alone[name], convention=convention, name=name, warn_unranked=False)
        found = np.array([metric.per_query(one) for metric in metrics])
        values[k] = np.where((one.size > 0) | np.isnan(found), found, 0.0)
        judged[k] = judged_share(one)
    return values, judged


def _labelled(data: Dataset, folds: Sequence[Fold]) -> set[str]:
    """The training queries that have labels."""
    train = {q for fold in folds for q in fold.train}
    if data.labels is None:
        return {data.queries[q] for q in train}
    return {data.queries[q] for q in train if data.labels.label_ptr[q + 1] > data.labels.label_ptr[q]}
