"""The parts of an explanation, from which tables, pages and pictures are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juryrank.data import Dataset
from juryrank.learning.expert_lists import expert_values
from juryrank.learning.verdict import Verdict
from juryrank.tasks.explain.contributions import QueryMatrix
from juryrank.tasks.explain.leave_one_out import LeaveOneOut
from juryrank.tasks.explain.redundancy import Redundancy


@dataclass(frozen=True)
class SingleExperts:
    """The mean of a metric for each single expert, over the labelled queries for which it has a list.

    It stands next to the weight of the expert, which depends on redundancy as well as on accuracy.
    """

    metric: str
    values: dict[str, float]  # by expert; NaN where there is no such query

    def with_weights(self, weights: dict[str, dict[str, float]]) -> list[tuple[str, float, float]]:
        """Expert, value and weight, the best expert first; empty if experts do not have exactly one weight each."""
        single = {name: row["weight"] for name, row in weights.items() if list(row) == ["weight"]}
        known = [(name, value, single[name]) for name, value in self.values.items() if name in single]
        return sorted((row for row in known if not np.isnan(row[1])), key=lambda row: (-row[1], row[0]))


def single_experts(data: Dataset, metric: str) -> SingleExperts | None:
    """Each expert by one metric; None if an expert has several lists in a query, which cannot be evaluated."""
    r = data.rankings
    if len(np.unique(r.list_query * len(r.experts) + r.list_expert)) < r.n_lists:
        return None
    return SingleExperts(metric, expert_values(data, metric))


@dataclass(frozen=True, eq=False, repr=False)
class Parts:
    """The parts of an explanation; those that need data, labels or a query are None without."""

    method: str
    params: dict[str, Any]
    summary: str  # the model's own report
    weights: dict[str, dict[str, float]]
    others: str | None  # the key of all other experts in the weights
    single_experts: SingleExperts | None = None
    leave_one_out: LeaveOneOut | None = None
    redundancy: Redundancy | None = None
    matrix: QueryMatrix | None = None
    verdict: Verdict | None = None  # of models that hold out queries themselves
