"""The position-based model: P(click) = examination × relevance, with a distribution of relevance that pairs share.

Examination is θ of the position, times κ for each click above it in the session (κ = 1 where users do not stop after a
click). The relevance of a pair is one of the values of a grid, and their shares are estimated, too, so that no pair has
a parameter of its own: with few impressions, estimates of a parameter for each pair would be biased.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.tasks.clicks.counts import ClickCounts

# Values of relevance: closer together near 0, where most items are.
RELEVANCE = np.concatenate([[0.001, 0.01, 0.025, 0.05, 0.075], np.linspace(0.1, 0.9, 9), [0.95, 0.99]])
STILL = 2e-4  # a change of θ that is too small to matter
LEAST = 1e-4  # examination of a position, so that logarithms stay finite


@dataclass(frozen=True, eq=False)
class ClickModel:
    """The parameters of the position-based model."""

    examination: Floats  # [n_positions] θ, 1 at the first position
    after_click: float  # κ
    shares: Floats  # [n_values] of pairs that have each value of RELEVANCE

    def by_cell(self, counts: ClickCounts) -> Floats:
        """The examination of each cell."""
        cells: Floats = self.examination[counts.cell_position] * self.after_click**counts.cell_above
        return cells

    def posterior(self, counts: ClickCounts) -> tuple[Floats, float]:
        """The probability of each value of relevance for each pair, and the log-likelihood of the clicks."""
        cells = self.by_cell(counts)
        with np.errstate(divide="ignore"):
            joint = counts.pair_clicks[:, None] * np.log(RELEVANCE) + np.log(self.shares)
        joint += counts.misses @ np.log1p(-cells[:, None] * RELEVANCE)
        largest = joint.max(axis=1, keepdims=True)
        joint = np.exp(joint - largest)
        total = joint.sum(axis=1, keepdims=True)
        joint /= total
        clicks = counts.clicks @ np.log(cells[counts.cell])
        return joint, float(np.log(total).sum() + largest.sum() + clicks)


@dataclass(frozen=True, eq=False)
class Prior:
    """Shrinkage of θ: as if each position had been shown ``strength`` times more, and examined as in ``curve``."""

    curve: Floats  # [n_positions]
    strength: float

    def log_density(self, examination: Floats) -> float:
        """The logarithm of the density, up to a constant; the first position is fixed."""
        theta, mean = examination[1:], self.curve[1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = np.where(mean < 1, (1 - mean) * np.log1p(-theta), 0.0)
        return float(self.strength * (mean * np.log(theta) + rest).sum())


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model, whether it converged, and the objective after each step."""

    model: ClickModel
    converged: bool
    objectives: tuple[float, ...]  # log-likelihood plus log-density of the prior; never decreases


def fit_by_em(
    counts: ClickCounts, start: ClickModel, prior: Prior, *, fixed: bool = False, max_iter: int = 1000, tol: float = 0.1
) -> Fit:
    """Expectation maximisation of θ (unless ``fixed``) and of the shares of relevance.

    It stops when a step raises the objective by less than ``tol``, a difference of log-likelihoods, or changes no θ by
    more than ``STILL``: near 1, where users examine everything, the last steps are small and many.
    """
    model, objectives, shown = start, list[float](), np.bincount(counts.pair, minlength=counts.n_pairs) > 0
    for _ in range(max_iter):
        posterior, likelihood = model.posterior(counts)
        objectives.append(likelihood + (0.0 if fixed else prior.log_density(model.examination)))
        if len(objectives) > 1 and objectives[-1] - objectives[-2] < tol:
            return Fit(model, True, tuple(objectives))
        after = replace(model, shares=posterior[shown].mean(axis=0))
        if not fixed:
            after = replace(after, examination=_examination(counts, model, posterior, prior))
        change, model = float(np.abs(after.examination - model.examination).max()), after
        if not fixed and change < STILL * (tol > 0):
            return Fit(model, True, tuple(objectives))
    return Fit(model, False, tuple(objectives))


def _examination(counts: ClickCounts, model: ClickModel, posterior: Floats, prior: Prior) -> Floats:
    """θ given the expected number of examinations: all clicks, and the misses that were examined but not clicked."""
    n, theta = len(counts.positions), model.examination[counts.cell_position][:, None]
    factor = (model.after_click**counts.cell_above)[:, None] * RELEVANCE
    seen = theta * (1 - factor) / (1 - theta * factor)  # P(examined | not clicked), by cell and relevance
    expected = ((counts.misses.T @ posterior) * seen).sum(axis=1)
    position = counts.cell_position[counts.cell]
    examined = np.bincount(position, counts.clicks, n) + np.bincount(counts.cell_position, expected, n)
    impressions = np.bincount(position, counts.shown, n)
    out = (examined + prior.strength * prior.curve) / (impressions + prior.strength)
    out[0] = 1.0  # only products of θ and relevance are observed, so one θ is fixed
    return np.clip(out, LEAST, 1.0)
