"""The quality of each single expert, next to its weight: weights depend on redundancy as well as on accuracy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data import Dataset
from juryrank.learning.expert_lists import expert_values


@dataclass(frozen=True)
class SingleExperts:
    """The mean of a metric for each single expert, over the labelled queries for which it has a list."""

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
