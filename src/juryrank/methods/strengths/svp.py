"""Singular value projection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.lists import Lists
from juryrank.kernels.spectral import rank_two
from juryrank.methods.cost import Cost
from juryrank.methods.strengths._entry_values import entry_values, flow_param
from juryrank.methods.strengths.strengths import Strength, max_pairs
from juryrank.params import param


@dataclass(kw_only=True)
class SVP(Strength):
    r"""SVP: the row means of the rank-2 matrix nearest to the mean preferences of the pairs.

    :math:`Y_{ij}` is the mean preference between i and j (``flow``) of the lists that rank both. A matrix of strength
    differences, :math:`s e^T - e s^T`, is skew-symmetric and has rank 2; the method finds the skew-symmetric rank-2
    matrix X nearest to Y by projections, and scores by :math:`X e / M`. A pair that no list compares counts as 0 with
    weight ``unknown``: with 1 the solution is a singular value decomposition of Y, with less it is a matrix completion.

    >>> from juryrank import from_orders
    >>> SVP().fit_predict(from_orders([["a", "b", "c"], ["b", "a"], ["a", "c"]])).top()
    {'all': ['a', 'b', 'c']}

    Gleich, Lim, KDD 2011; Jain, Meka, Dhillon, NIPS 2010.
    """

    name = "svp"
    cost = Cost("pairs of items", 175.0)
    flow: str = flow_param("difference")
    unknown: float = param(1.0, "weight of a pair that no list compares, taken as 0", at_least=0, at_most=1)
    tol: float = param(1e-8, "stop when the gradient norm is this share of the norm of the known preferences", above=0)
    max_iter: int = param(5000, "maximum number of steps", at_least=1)

    def _strengths(self, r: Rankings, lists: Lists, steps: Ints, out: Floats) -> Mapping[str, NDArray[Any]]:
        most = max_pairs(self.name, r, lists)
        value, by_order = entry_values(self.flow, r, lists), self.flow == "order"
        settings = (float(self.unknown), float(self.tol), self.max_iter)
        rank_two(lists, most, value, by_order, *settings, steps, out)
        return {}
