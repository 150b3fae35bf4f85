"""Differences of methods to a baseline: confidence intervals, significance tests, wins and losses."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.evaluation.significance import half_width, holm, randomisations, t_test, win_tie_loss
from juryrank.report import Table, number, p_value


@dataclass(frozen=True)
class BaselineDifference:
    """The difference of a method to the baseline; interval and p-values use the queries of all folds together."""

    difference: float  # of the means
    low: float  # of the 95 % interval of the difference, by the t distribution
    high: float
    p_t: float
    p_t_holm: float
    p_random: float
    p_random_holm: float
    win: int
    tie: int
    loss: int

    def cells(self, percent: bool) -> list[str]:
        """The difference as text, in the order of ``COLUMNS``."""
        numbers = [number(value, percent, "+") for value in (self.difference, self.low, self.high)]
        p_values = [p_value(p) for p in (self.p_t, self.p_t_holm, self.p_random, self.p_random_holm)]
        return [*numbers, *p_values, f"{self.win}/{self.tie}/{self.loss}"]


COLUMNS = ("diff.", "low", "high", "p (t)", "Holm", "p (rand.)", "Holm", "W/T/L")

Differences = dict[tuple[str, str], BaselineDifference]  # by name and metric; not of the baseline


def row_of(versus: BaselineDifference | None) -> dict[str, Any]:
    """A difference as plain values by name; None of each for the baseline."""
    return dict.fromkeys(BaselineDifference.__dataclass_fields__) if versus is None else asdict(versus)


def against_table(first: str, baseline: str, differences: Differences, percent: bool, note: str = "") -> Table:
    """All differences to the baseline; ``first`` is the title of the column of names."""
    body = [[name, metric, *one.cells(percent)] for (name, metric), one in differences.items()]
    columns = [first, "metric", *COLUMNS]
    return Table(f"Against {baseline}", columns, body, n_names=2, groups=[3, 2, 2, 1], note=note)


def differences_to_baseline(
    names: list[str],
    metrics: list[str],
    values: NDArray[np.float64],
    means: NDArray[np.float64],
    baseline: str,
    seed: int,
) -> Differences:
    """All other methods against the baseline by each metric, with the Holm correction over the methods of a metric."""
    base = names.index(baseline)
    others = [n for n in range(len(names)) if n != base]
    if not others:
        return {}
    difference = values[others] - values[base]
    drawn = randomisations(difference.reshape(-1, difference.shape[-1]).T, seed=seed).reshape(difference.shape[:2])
    found: Differences = {}
    for k, metric in enumerate(metrics):
        p_t, p_random = np.array([t_test(d) for d in difference[:, k]]), drawn[:, k]
        p_t_holm, p_random_holm = holm(p_t), holm(p_random)
        for i, n in enumerate(others):
            gain, spread = float(means[n, k] - means[base, k]), half_width(difference[i, k])
            found[names[n], metric] = BaselineDifference(
                gain,
                gain - spread,
                gain + spread,
                float(p_t[i]),
                float(p_t_holm[i]),
                float(p_random[i]),
                float(p_random_holm[i]),
                *win_tie_loss(difference[i, k]),
            )
    return {(names[n], metric): found[names[n], metric] for n in others for metric in metrics}
