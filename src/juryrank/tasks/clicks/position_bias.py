"""Position bias: how often users examine each position, estimated from a click log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.errors import DataError, warn_not_converged
from juryrank.tasks.clicks.counts import ClickCounts
from juryrank.tasks.clicks.relevance import LEAST, RELEVANCE, ClickModel, Fit, Prior, fit_by_em

PRIOR_IMPRESSIONS = 10.0  # of each position, that the curve 1/√position counts as
FLATTEST = 1.0  # κ is not above 1: clicks do not make users examine more
GROUPS, FEWEST_GROUPS = 10, 5  # of queries; the standard error is that of a jackknife that leaves out one of them
EM_ERROR = 0.5  # of log θ by EM, as a standard deviation: rankings show better items first, which looks like a bias
Z95 = 1.959964
GIVEN = "given"  # the source of values that were not estimated


@dataclass(frozen=True)
class Settings:
    """When EM stops."""

    max_iter: int
    tol: float

    def em(self, counts: ClickCounts, start: ClickModel, prior: Prior, *, fixed: bool) -> Fit:
        """The fit from a start."""
        return fit_by_em(counts, start, prior, fixed=fixed, max_iter=self.max_iter, tol=self.tol)


@dataclass(frozen=True, eq=False, kw_only=True)
class PositionBias:
    """The examination of each position relative to the first; ``interval`` has 95 % intervals.

    ``unknown`` is the standard deviation of log examination that no number of clicks removes: how far a ranking that
    shows better items first may have misled EM. It is smaller where items were shown at several positions.

    ``model.after_click`` multiplies it for each click above the position in the same session; it is 1 if sessions are
    not known. ``moved`` is the share of impressions of items that the same query showed at several positions: there,
    the same item is compared with itself. ``source`` says what the estimate is based on.
    """

    counts: ClickCounts
    model: ClickModel
    unknown: Floats  # [n_positions]
    moved: float
    source: str
    converged: bool
    n_steps: int
    settings: Settings

    def __repr__(self) -> str:
        shown = ", ".join(f"{p}: {e:.2f}" for p, e in zip(self.positions[:5], self.examination[:5], strict=True))
        return f"PositionBias({shown}{', …' if len(self.positions) > 5 else ''})"

    @property
    def positions(self) -> Ints:
        return self.counts.positions

    @property
    def examination(self) -> Floats:
        return self.model.examination

    @cached_property
    def interval(self) -> tuple[Floats, Floats]:
        """The lower and upper ends, from a jackknife over queries and ``unknown``; NaN if given, or of few queries."""
        from scipy.special import stdtrit  # quantiles of Student's t

        queries = np.unique(self.counts.pair_query)
        theta, n_groups = self.examination, min(GROUPS, len(queries))
        if n_groups < FEWEST_GROUPS or self.source == GIVEN:
            return np.full(len(theta), np.nan), np.full(len(theta), np.nan)
        group = np.zeros(int(queries.max()) + 1, np.int64)
        group[queries] = np.arange(len(queries)) % n_groups
        parts = (self.counts.of_queries(group != g) for g in range(n_groups))
        without = np.log([_fit(part, None, self.settings, self.model)[0].model.examination for part in parts])
        variance = (n_groups - 1) / n_groups * ((without - without.mean(axis=0)) ** 2).sum(axis=0)
        factor = np.exp(np.sqrt(stdtrit(n_groups - 1, 0.975) ** 2 * variance + (Z95 * self.unknown) ** 2))
        return theta / factor, np.minimum(theta * factor, 1.0)


def estimate_bias(
    counts: ClickCounts, known: Sequence[float] | None = None, *, max_iter: int = 1000, tol: float = 0.1
) -> PositionBias:
    """The position bias of a log; ``known`` gives the examination of positions 1, 2, … if it has been measured.

    EM fits a position-based model. Where the same item of a query was shown at several positions (by exploration,
    randomised swaps or changes of the ranking), ratios of its clicks there correct the result.
    """
    if not len(counts.positions):
        raise DataError("the click log is empty: there are no impressions to learn from")
    settings = Settings(max_iter, tol)
    fit, unknown, moved = _fit(counts, known, settings)
    if not fit.converged:
        warn_not_converged("click_labels", "the position-based model", max_iter)
    corrected = "the same items at several positions, and " if moved else ""
    return PositionBias(
        counts=counts,
        model=fit.model,
        unknown=unknown,
        moved=moved,
        source=GIVEN if known is not None else f"{corrected}expectation maximisation",
        converged=fit.converged,
        n_steps=len(fit.objectives),
        settings=settings,
    )


def _fit(
    counts: ClickCounts, known: Sequence[float] | None, settings: Settings, start: ClickModel | None = None
) -> tuple[Fit, Floats, float]:
    """The fit, the standard deviation of log θ that clicks do not remove, and the share of items that moved."""
    prior = Prior(np.sqrt(counts.positions[0] / counts.positions), PRIOR_IMPRESSIONS)
    if start is None:
        shares = np.full(len(RELEVANCE), 1.0 / len(RELEVANCE))
        start = ClickModel(_click_ratios(counts, prior), _effect_of_clicks(counts), shares)
    if known is not None:
        start = replace(start, examination=_known(known, counts.positions))
        return settings.em(counts, start, prior, fixed=True), np.zeros(len(counts.positions)), 0.0
    fit = settings.em(counts, start, prior, fixed=False)
    shown, clicks = _by_position(counts, fit.model.after_click)
    several = np.diff((shown > 0).indptr) > 1
    moved = float(shown[several].sum() / max(shown.sum(), 1e-300))
    theta, unknown = _corrected(fit.model.examination, shown[several], clicks[several])
    if not moved:
        return fit, unknown, 0.0
    again = settings.em(counts, replace(fit.model, examination=theta), prior, fixed=True)
    return replace(fit, model=again.model), unknown, moved


def _by_position(counts: ClickCounts, after_click: float) -> tuple[Any, Any]:
    """Impressions, less where clicks above make them less likely to be examined, and clicks, by pair and position."""
    position, n = counts.cell_position[counts.cell], len(counts.positions)
    shown = counts.shown * after_click ** counts.cell_above[counts.cell]
    return counts.matrix(shown, position, n), counts.matrix(counts.clicks, position, n)


def _click_ratios(counts: ClickCounts, prior: Prior) -> Floats:
    """Where EM starts: the click rate at each position relative to the first."""
    position, n = counts.cell_position[counts.cell], len(counts.positions)
    clicks, shown = np.bincount(position, counts.clicks, n), np.bincount(position, counts.shown, n)
    first = (clicks[0] + 1) / (shown[0] + 1)
    rate = (clicks + prior.strength * prior.curve * first) / (shown + prior.strength)
    ratios: Floats = np.clip(rate / rate[0], LEAST, 1.0)
    return ratios


def _effect_of_clicks(counts: ClickCounts) -> float:
    """κ: the click rate after one click above relative to that after none, of the same pair at the same position.

    Rates of a pair are averaged with the weights of Mantel and Haenszel. One expected click is added to both sides,
    which shrinks the ratio towards 1.
    """
    stratum = counts.pair * len(counts.positions) + counts.cell_position[counts.cell]
    _, place = np.unique(stratum, return_inverse=True)
    above, n = counts.cell_above[counts.cell], int(place.max(initial=-1)) + 1
    shown = [np.bincount(place, counts.shown * (above == m), n) for m in (0, 1)]
    clicks = [np.bincount(place, counts.clicks * (above == m), n) for m in (0, 1)]
    both = (shown[0] > 0) & (shown[1] > 0)
    weight = shown[0][both] * shown[1][both] / (shown[0][both] + shown[1][both])
    none, one = (float((weight * c[both] / s[both]).sum()) for c, s in zip(clicks, shown, strict=True))
    return min((one + 1) / (none + 1), FLATTEST)


def _corrected(examination: Floats, shown: Any, clicks: Any) -> tuple[Floats, Floats]:
    """θ by least squares of log ratios between positions, each from pairs that were shown at both.

    For positions a and b, Σ clicks(a) shown(b) / Σ clicks(b) shown(a) over pairs estimates θ(a)/θ(b) whatever the
    relevance of the pairs; the terms are divided by the impressions of the pair. The estimate of EM is the prior. The
    second result is what is left of its error, as a standard deviation of log θ.
    """
    from scipy.sparse import diags_array

    n = len(examination)
    scale = diags_array(1.0 / np.asarray(shown.sum(axis=1)).ravel())
    up = (clicks.T @ scale @ shown).toarray()
    variance = (clicks.T @ (scale @ scale) @ shown.power(2)).toarray()
    both = (up > 0) & (up.T > 0) & ~np.eye(n, dtype=bool)
    safe = np.where(both, up, 1.0)
    spread = np.where(both, variance / safe**2, 0.0)
    precision = np.where(both, 1.0 / np.where(both, spread + spread.T, 1.0), 0.0)
    degree = both.sum(axis=1).max(initial=0)
    precision *= 2.0 / max(degree, 2)  # every click is in as many ratios as the position has partners
    rhs = (precision * np.log(safe / safe.T)).sum(axis=1)
    system = np.diag(precision.sum(axis=1) + EM_ERROR**-2) - precision
    rhs += np.log(examination) / EM_ERROR**2
    solve = np.linalg.inv(system[1:, 1:])
    theta: Floats = np.clip(np.exp(np.append(0.0, solve @ rhs[1:])), LEAST, 1.0)  # log θ of the first position is 0
    return theta, np.append(0.0, np.sqrt((solve**2).sum(axis=1)) / EM_ERROR)


def _known(known: Sequence[float], positions: Ints) -> Floats:
    """The examination of the positions of the log, relative to the first of them."""
    values = np.asarray(known, np.float64)
    if values.ndim != 1 or not ((values > 0) & (values <= 1)).all():
        raise DataError("examination must be a list of probabilities above 0 and at most 1, for positions 1, 2, …")
    if len(positions) and positions[-1] > len(values):
        raise DataError(f"examination has {len(values)} positions, but the log has items at position {positions[-1]}")
    found: Floats = values[positions - 1] / values[positions[0] - 1]
    return np.clip(found, LEAST, 1.0)
