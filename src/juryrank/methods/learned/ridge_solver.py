"""Query-centred ridge regression of gains on the logarithms of ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.learning.normal_equations import NormalEquations


@dataclass(frozen=True)
class RidgeSolver:
    """Weights of −log r and of being ranked at all, for each expert, shrunk to 0 by ``shrink`` pseudo-queries."""

    shrink: float

    def curves(self, rank: Floats) -> Floats:
        """The two curves at each rank, [n, 2]."""
        return np.column_stack([-np.log(rank), np.ones(len(rank))])

    def __call__(self, gram: Floats, n_queries: Floats, copies: Floats, fill: Floats) -> Floats:
        """Weights [batch, column, curve]."""
        equations = NormalEquations(gram, n_queries, copies)
        own = copies[:, :, None] * np.eye(copies.shape[1])
        penalty = [(self.shrink * equations.typical[:, j])[:, None, None] * own for j in range(2)]
        return equations.solve(penalty, np.zeros_like(equations.b))
