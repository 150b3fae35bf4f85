"""The prior of ``jury``: position curves regularised towards the mean expert and towards RRF, in closed form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats, Ints
from juryrank.learning.baseline import RRF_K
from juryrank.learning.normal_equations import NormalEquations

FEW = 5  # labelled queries; with fewer, experts are regularised more strongly towards the mean expert
FEW_SHRINK = 100.0
GUARD = 1e6  # pseudo-queries that fix a common curve whose weight would otherwise change its sign
RRF_SCALE = 0.3  # the weight of a curve of the prior, in units of √(variance of gains / variance of the curve)
LEAST = 0.25  # of that weight, that the common curve must keep
PRIORS = ("auto", "equal", "correlation")
LEAN = 8.0  # of the prior towards experts that correlate with the labels, with many labelled queries
HALF_LEAN_QUERIES = 10.0  # labelled queries with which it leans half as much
LOG_K = 100.0  # the curve log(1 + 100 / r) is steep down to about this rank
GAPLESS = 0.5  # share of filled ranks from which lists count as whole lists, not as parts of longer ones
FLAT, TOP, RANKED, LOG, SCORE = range(5)  # the curves, in their order
N_CURVES = {"equal": 3, "correlation": 4, "auto": 4}  # without scores


@dataclass(frozen=True)
class RRFPriorSolver:
    """Weights of the curves 60/(60+r), 10/(10+r), 1 and, unless the prior is ``equal``, log(1+100/r) of each expert.

    ``shrink`` pseudo-queries regularise every expert towards its share of the mean expert, ``anchor`` pseudo-queries
    the mean expert towards RRF, so that both matter less with more labelled queries. With the prior ``equal`` all
    shares are equal. With ``correlation`` they lean towards experts whose curve 60/(60+r) correlates with the gains
    inside queries, and the curve log(1+100/r) has half of the prior. ``auto`` is ``correlation`` where the lists have
    few gaps, else ``equal``. Guards, with one refit each: the weights of the common curves must not change their sign.
    """

    shrink: float
    anchor: float
    prior: str = "equal"
    scores: bool = False  # whether a curve of the scores is the last; its prior weight is 0

    @property
    def n_curves(self) -> int:
        """The number of curves; with scores, the logarithm is one of them, whether it is used or not."""
        return SCORE + 1 if self.scores else N_CURVES[self.prior]

    def curves(self, rank: Floats) -> Floats:
        """The curves at each rank, [n, 4], with the logarithm, which is not used with equal shares."""
        flat, top, ranked = RRF_K / (RRF_K + rank), 10.0 / (10.0 + rank), np.ones(len(rank))
        return np.column_stack([flat, top, ranked, np.log1p(LOG_K / rank)])

    def leans(self, fill: Floats) -> NDArray[np.bool_]:
        """Whether the prior leans to some experts, given the share of filled ranks in the lists."""
        return fill >= GAPLESS if self.prior == "auto" else np.full(len(fill), self.prior == "correlation")

    def __call__(self, gram: Floats, n_queries: Floats, copies: Floats, fill: Floats) -> Floats:
        """Weights [batch, column, curve]; those of RRF where there is nothing to learn from."""
        weights = np.zeros((*copies.shape, self.n_curves))
        for here, used, fit in self._fits(gram, n_queries, copies, fill):
            weights[here[:, None, None], np.arange(copies.shape[1])[:, None], used] = fit.weights()
        return weights

    def covariance(self, gram: Floats, n_queries: Floats, copies: Floats, fill: Floats) -> Floats:
        """The posterior covariance of the weights for noise of variance 1, [batch, column · curve, the same]."""
        size = copies.shape[1] * self.n_curves
        out = np.zeros((len(gram), size, size))
        for here, used, fit in self._fits(gram, n_queries, copies, fill):
            at = (np.arange(copies.shape[1])[:, None] * self.n_curves + used).ravel()
            out[here[:, None, None], at[:, None], at] = fit.covariance()
        return out

    def _fits(
        self, gram: Floats, n_queries: Floats, copies: Floats, fill: Floats
    ) -> Iterator[tuple[Ints, list[int], _Fit]]:
        """For each form of the prior: the elements of the batch that have it, the curves that it uses, the fit."""
        leans = self.leans(fill)
        for lean in (False, True):
            if (here := np.flatnonzero(leans == lean)).size:
                used = [j for j in range(self.n_curves) if j != LOG or lean]
                part = gram if len(here) == len(gram) else gram[here]
                chosen = _select_curves(part, copies.shape[1], self.n_curves, used)
                yield here, used, _Fit(self, chosen, n_queries[here], copies[here], lean=lean)


class _Fit:
    """The solutions of a batch for one form of the prior."""

    def __init__(self, solver: RRFPriorSolver, gram: Floats, n_queries: Floats, copies: Floats, *, lean: bool) -> None:
        self.gram, self.n_queries, self.copies = gram, n_queries, copies
        self.equations = equations = NormalEquations(gram, n_queries, copies)
        self.anchored = [FLAT, LOG] if lean else [FLAT]  # the curves of the prior, with equal shares of it
        self.of_scores = [equations.n_curves - 1] if solver.scores else []
        self.usable = (n_queries > 0) & (equations.typical[:, FLAT] > 0)
        spread = equations.common[:, self.anchored]
        known = self.usable[:, None] & (spread > 0)
        self.unit = RRF_SCALE * np.sqrt(equations.gain_spread[:, None] / np.where(known, spread, 1.0))
        self.unit[~known] = 1.0
        self.shares = expert_shares(equations, n_queries, LEAN if lean else 0.0)
        self.shrink = np.where(n_queries < FEW, max(solver.shrink, FEW_SHRINK), solver.shrink)
        self.anchor = np.full((len(gram), equations.n_curves), solver.anchor)

    def weights(self) -> Floats:
        """Weights [batch, column, curve], after the guards."""
        weights = self._solve(np.arange(len(self.gram)))
        one = np.ones((len(self.gram), 1))
        for curves, unit, least, fixed in (
            (self.anchored, self.unit, LEAST, self.anchored),
            ([TOP], one, 0.0, [TOP, RANKED]),
            (self.of_scores, one, 0.0, self.of_scores),
        ):
            common = (np.einsum("qc,qcj->qj", self.copies, weights[:, :, curves]) / unit).sum(axis=1)
            flipped = np.flatnonzero(self.usable & (common < least))
            if flipped.size:
                self.anchor[flipped[:, None], fixed] = GUARD
                weights[flipped] = self._solve(flipped)
        weights[~self.usable] = 0.0
        weights[~self.usable, :, FLAT] = 1.0 / RRF_K
        return weights

    def covariance(self) -> Floats:
        """The covariance of the weights for noise of variance 1, [batch, column · curve, the same]."""
        self.weights()  # sets the guards
        return self.equations.covariance(self._penalty(self.equations, np.arange(len(self.gram))))

    def _solve(self, here: Ints) -> Floats:
        """The weights of these elements of the batch, with their penalties."""
        whole = len(here) == len(self.gram)
        equations = (
            self.equations if whole else NormalEquations(self.gram[here], self.n_queries[here], self.copies[here])
        )
        penalty = self._penalty(equations, here)
        pull = np.zeros_like(equations.b)
        for part, j in enumerate(self.anchored):
            mean = self.shares[here] * (self.unit[here, part] / len(self.anchored))[:, None]
            pull[:, :, j] = np.einsum("qcd,qd->qc", penalty[j], mean)
        return equations.solve(penalty, pull)

    def _penalty(self, equations: NormalEquations, here: Ints) -> list[Floats]:
        """The penalty of each curve, [batch, column, column], for these elements of the batch."""
        copies = equations.copies
        total = np.maximum(copies.sum(axis=1), 1.0)[:, None, None]
        outer = copies[:, :, None] * copies[:, None, :]
        apart = copies[:, :, None] * np.eye(copies.shape[1]) - outer / total
        strength = self.shrink[here, None] * equations.typical
        common = self.anchor[here] * equations.common
        return [
            strength[:, j, None, None] * apart + common[:, j, None, None] * outer for j in range(equations.n_curves)
        ]


def expert_shares(equations: NormalEquations, n_queries: Floats, lean: float) -> Floats:
    """The share of each expert of a column in the mean of the prior, [batch, column]; those of all experts add up to 1.

    It is proportional to exp(lean · n / (n + 10) · (c − c̄)), where c is the correlation of the expert's first curve
    with the gains inside the n labelled queries. A column that several experts share has the mean correlation c̄.
    """
    copies, single = equations.copies, equations.copies == 1
    squares = np.einsum("qcjcj->qcj", equations.A)[:, :, FLAT]
    product = squares * (equations.gain_spread * np.maximum(n_queries, 1.0))[:, None]
    known = single & (product > 0)
    correlation = np.where(known, equations.b[:, :, FLAT] / np.sqrt(np.where(known, product, 1.0)), 0.0)
    mean = correlation.sum(axis=1) / np.maximum(single.sum(axis=1), 1)
    apart = np.where(single, correlation - mean[:, None], 0.0)
    size = np.exp((lean * n_queries / (n_queries + HALF_LEAN_QUERIES))[:, None] * apart)
    total = (copies * size).sum(axis=1)
    shares: Floats = size / np.where(total > 0, total, 1.0)[:, None]
    return shares


def _select_curves(gram: Floats, n_columns: int, n_curves: int, used: list[int]) -> Floats:
    """The Gram matrices of some of the curves."""
    if len(used) == n_curves:
        return gram
    at = (np.arange(n_columns)[:, None] * n_curves + used).ravel()
    at = np.append(at, gram.shape[-1] - 1)
    return gram[:, at[:, None], at]
