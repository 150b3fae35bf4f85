"""Position curves shrunk to reciprocal rank fusion, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data.rankings import Floats
from juryrank.training.lessons import RRF_K
from juryrank.training.normal_equations import NormalEquations

FEW = 5  # labelled queries; with fewer, experts are held closer to the mean expert
FEW_SHRINK = 100.0
HELD = 1e6  # pseudo-queries that hold a common curve where the data would turn it over
AIM = 0.3  # how far along the common curve RRF is placed, in units of √(spread of gains / spread of the curve)
LEAST = 0.25  # of the aim, that the common curve must keep


@dataclass(frozen=True)
class ShrunkToRRF:
    """Weights of the curves 60/(60+r), 10/(10+r) and 1 of each expert.

    ``shrink`` pseudo-queries hold every expert to the mean expert, ``anchor`` pseudo-queries hold the mean expert to
    RRF, so that both fade as labelled queries come in. Two guards, with one refit each: the common curves must not
    turn over.
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
        taught = (n_queries > 0) & (equations.typical[:, 0] > 0)
        common = np.where(taught[:, None], equations.common, 1.0)
        aim = AIM * np.sqrt(equations.gain_spread / common[:, 0])
        anchor = np.full((len(gram), 3), self.anchor)
        weights = self._solve(equations, n_queries, aim, anchor)
        for curve, least, held in ((0, LEAST * aim, [0]), (1, 0.0 * aim, [1, 2])):
            turned = taught & ((copies * weights[:, :, curve]).sum(axis=1) < least)
            if turned.any():
                anchor[np.ix_(turned, held)] = HELD
                part = NormalEquations(gram[turned], n_queries[turned], copies[turned])
                weights[turned] = self._solve(part, n_queries[turned], aim[turned], anchor[turned])
        weights[~taught] = self.default
        return weights

    def _solve(self, equations: NormalEquations, n_queries: Floats, aim: Floats, anchor: Floats) -> Floats:
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
        pull[:, :, 0] = (anchor[:, 0] * equations.common[:, 0] * aim)[:, None] * copies
        return equations.solve(penalty, pull)
