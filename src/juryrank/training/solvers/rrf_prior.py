"""The prior of ``jury``: position curves regularised towards the mean expert and towards RRF, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.training.rrf_baseline import RRF_K
from juryrank.training.solvers.normal_equations import NormalEquations

FEW = 5  # labelled queries; with fewer, experts are regularised more strongly towards the mean expert
FEW_SHRINK = 100.0
GUARD = 1e6  # pseudo-queries that fix a common curve whose weight would otherwise change its sign
RRF_SCALE = 0.3  # the weight of RRF's curve in the prior, in units of √(variance of gains / variance of the curve)
LEAST = 0.25  # of that weight, that the common curve must keep


@dataclass(frozen=True)
class RRFPriorSolver:
    """Weights of the curves 60/(60+r), 10/(10+r) and 1 of each expert.

    ``shrink`` pseudo-queries regularise every expert towards the mean expert, ``anchor`` pseudo-queries the mean
    expert towards RRF, so that both matter less with more labelled queries. Two guards, with one refit each: the
    weights of the common curves must not change their sign.
    """

    shrink: float
    anchor: float

    @property
    def default(self) -> Floats:
        """The curve of RRF."""
        return np.array([1.0 / RRF_K, 0.0, 0.0])

    def curves(self, rank: Floats) -> Floats:
        """The three curves at each rank, [n, 3]."""
        return np.column_stack([RRF_K / (RRF_K + rank), 10.0 / (10.0 + rank), np.ones(len(rank))])

    def __call__(self, gram: Floats, n_queries: Floats, copies: Floats) -> Floats:
        """Weights [batch, column, curve]; those of RRF where there is nothing to learn from."""
        equations = NormalEquations(gram, n_queries, copies)
        usable = (n_queries > 0) & (equations.typical[:, 0] > 0)
        common = np.where(usable[:, None], equations.common, 1.0)
        rrf_weight = RRF_SCALE * np.sqrt(equations.gain_spread / common[:, 0])
        anchor = np.full((len(gram), 3), self.anchor)
        weights = self._solve(equations, n_queries, rrf_weight, anchor)
        for curve, least, fixed in ((0, LEAST * rrf_weight, [0]), (1, 0.0 * rrf_weight, [1, 2])):
            flipped = usable & ((copies * weights[:, :, curve]).sum(axis=1) < least)
            if flipped.any():
                anchor[np.ix_(flipped, fixed)] = GUARD
                part = NormalEquations(gram[flipped], n_queries[flipped], copies[flipped])
                weights[flipped] = self._solve(part, n_queries[flipped], rrf_weight[flipped], anchor[flipped])
        weights[~usable] = self.default
        return weights

    def _solve(self, equations: NormalEquations, n_queries: Floats, rrf_weight: Floats, anchor: Floats) -> Floats:
        copies = equations.copies
        shrink = np.where(n_queries < FEW, max(self.shrink, FEW_SHRINK), self.shrink)
        total = np.maximum(copies.sum(axis=1), 1.0)[:, None, None]
        outer = copies[:, :, None] * copies[:, None, :]
        apart = copies[:, :, None] * np.eye(copies.shape[1]) - outer / total
        penalty = [
            (shrink * equations.typical[:, j])[:, None, None] * apart
            + (anchor[:, j] * equations.common[:, j])[:, None, None] * outer
            for j in range(3)
        ]
        pull = np.zeros_like(equations.b)
        pull[:, :, 0] = (anchor[:, 0] * equations.common[:, 0] * rrf_weight)[:, None] * copies
        return equations.solve(penalty, pull)
