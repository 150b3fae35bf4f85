"""Differences of methods to a baseline: confidence intervals, significance tests, wins and losses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from juryrank.evaluation.significance import half_width, holm, randomisations, t_test, win_tie_loss


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


def differences_to_baseline(
    names: list[str],
    metrics: list[str],
    values: NDArray[np.float64],
    means: NDArray[np.float64],
    baseline: str,
    seed: int,
) -> dict[tuple[str, str], BaselineDifference]:
    """All other methods against the baseline by each metric, with the Holm correction over the methods of a metric."""
    base = names.index(baseline)
    others = [n for n in range(len(names)) if n != base]
    if not others:
        return {}
    difference = values[others] - values[base]
    drawn = randomisations(difference.reshape(-1, difference.shape[-1]).T, seed=seed).reshape(difference.shape[:2])
    found = {}
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
    return found
