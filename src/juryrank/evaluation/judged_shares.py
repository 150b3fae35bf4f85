"""Judged@k beside metrics with a cutoff: which numbers rest on judgements, and what to do where they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats, freeze
from juryrank.metrics import Judged, Metric

SAME = 0.01  # shares that differ by no more favour nobody
ADVICE = (
    "The shares differ, which favours rows with a higher share: to choose between rows, also compare them with "
    "unjudged=ignore or by Bpref; to report numbers, judge the first items of every row."
)
CONDENSED = (
    "Unjudged items were removed before the metrics were computed (condensed lists): these numbers are for choosing "
    "between rows, not for reporting."
)


def shares_beside(metrics: Sequence[Metric]) -> tuple[Judged, ...]:
    """Judged@k for each cutoff k of the metrics, unless it is one of them."""
    cutoffs = dict.fromkeys(getattr(metric, "cutoff", None) for metric in metrics)
    shares = (Judged(cutoff=cutoff) for cutoff in cutoffs if cutoff is not None)
    return tuple(share for share in shares if share not in metrics)


@dataclass(frozen=True, eq=False)
class JudgedShares:
    """The mean of each Judged@k by row of a table; empty where there are no labels or no cutoffs."""

    metrics: tuple[Judged, ...]
    means: Floats  # [n_rows, n_metrics]; NaN where nothing is ranked

    def __post_init__(self) -> None:
        freeze(self)

    def of_row(self, row: int) -> dict[str, float]:
        """The shares of a row by name."""
        return {str(metric): float(mean) for metric, mean in zip(self.metrics, self.means[row], strict=True)}

    def beside(self, metric: Metric, row: int) -> float | None:
        """Judged@k for a metric with the cutoff k; None for one without."""
        found = Judged(cutoff=getattr(metric, "cutoff", None))
        return float(self.means[row, self.metrics.index(found)]) if found in self.metrics else None

    @property
    def incomplete(self) -> JudgedShares:
        """Those that are below 1 in some row: those that a table shows."""
        below = np.flatnonzero((self.means < 1.0).any(axis=0))
        return JudgedShares(tuple(self.metrics[k] for k in below), self.means[:, below])

    def note(self) -> str:
        """What the shares that a table shows mean for its numbers; empty where it shows none."""
        shown = self.incomplete
        if not shown.metrics:
            return ""
        names = ", ".join(map(str, shown.metrics))
        text = f" {names}: share of the first items that have labels; the others count as not relevant."
        spread = np.nanmax(shown.means, axis=0) - np.nanmin(shown.means, axis=0)
        return text + (f" {ADVICE}" if (spread > SAME).any() else "")
