"""How good each expert is alone, beside what it weighs: weights follow redundancy as well as accuracy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data import Dataset
from juryrank.training.expert_values import expert_values


@dataclass(frozen=True)
class Alone:
    """The mean of a metric for each expert alone, over the labelled queries for which it has a list."""

    metric: str
    values: dict[str, float]  # by expert; NaN where there is no such query

    def beside(self, weights: dict[str, dict[str, float]]) -> list[tuple[str, float, float]]:
        """Expert, value alone and weight, the best expert first; nothing where experts have no single weight."""
        single = {name: row["weight"] for name, row in weights.items() if list(row) == ["weight"]}
        known = [(name, value, single[name]) for name, value in self.values.items() if name in single]
        return sorted((row for row in known if not np.isnan(row[1])), key=lambda row: (-row[1], row[0]))


def alone(data: Dataset, metric: str) -> Alone | None:
    """Every expert by one metric; None where one has several lists in a query, which no metric takes."""
    r = data.rankings
    if len(np.unique(r.list_query * len(r.experts) + r.list_expert)) < r.n_lists:
        return None
    return Alone(metric, expert_values(data, metric))
