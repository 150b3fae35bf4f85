"""Query-centred ridge regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.learning.normal_equations import NormalEquations
from juryrank.methods.learned.curves import PositionCurves
from juryrank.params import param


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


@dataclass(kw_only=True)
class Ridge(PositionCurves):
    r"""Ridge regression of labels on the logarithms of ranks, inside queries.

    :math:`s_i = \sum_k a_k - b_k \log r_{ki}` over the experts k that ranked the item, so that :math:`-a_k` is the
    weight of a missing item. Labels and features are centred in every query; the penalty counts as ``shrink`` queries
    in which all weights are 0. Use it if most items are judged; with few labels, or runs over a large collection,
    ``jury`` is safer. Unknown experts, types of labels, ``partial_fit``, ``merge`` and ``report`` are as in ``jury``.

    >>> from juryrank import from_dicts
    >>> lists = {"good": {"q": ["a", "b", "c"]}, "bad": {"q": ["c", "b", "a"]}}
    >>> model = Ridge().fit(from_dicts(lists, labels={"q": {"a": 2, "b": 1, "c": 0}}))
    >>> {name: weights["b"] > 0 for name, weights in model.expert_weights().items() if name in lists}
    {'bad': False, 'good': True}
    """

    name = "ridge"
    curve_names: ClassVar[tuple[str, ...]] = ("b", "a")
    shrink: float = param(1.0, "strength of the prior that a weight is 0, in queries", above=0)

    def _solver(self) -> RidgeSolver:
        return RidgeSolver(self.shrink * self._strength)
