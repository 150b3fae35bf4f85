"""Singular value projection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.rankings import Floats, Ints
from juryrank.kernels.rank_two import rank_two
from juryrank.methods.cost import Cost
from juryrank.methods.strengths._base import Lists, Strength, pairs_at_most
from juryrank.methods.strengths._flow import entry_values, flow_param
from juryrank.params import param


@dataclass(kw_only=True)
class SVP(Strength):
    r"""SVP: the row means of the rank-2 matrix nearest to the mean preferences of the pairs.

    :math:`Y_{ij}` is the mean over the lists that rank both of what they say of i and j (``flow``). A matrix of
    strengths, :math:`s e^T - e s^T`, is skew-symmetric and has rank 2; the method finds such a matrix X nearest to Y,
    by projection on rank 2, and scores by :math:`X e / M`. A pair that no list compares is 0 with weight ``unknown``:
    with 1 that is a singular value decomposition of Y, with less the matrix is completed there.

    >>> from juryrank import from_orders
    >>> SVP().fit_predict(from_orders([["a", "b", "c"], ["b", "a"], ["a", "c"]])).top()
    {'all': ['a', 'b', 'c']}

    Gleich, Lim, KDD 2011; Jain, Meka, Dhillon, NIPS 2010.
    """

    name = "svp"
    cost = Cost("pairs of items", 175.0)
    flow: str = flow_param("difference")
    unknown: float = param(1.0, "weight of a pair that no list compares, taken as 0", at_least=0, at_most=1)
    tol: float = param(1e-8, "stop when the slope is this share of the known preferences", above=0)
    max_iter: int = param(5000, "steps at most", at_least=1)

    def _strengths(self, r: Rankings, lists: Lists, steps: Ints, out: Floats) -> Mapping[str, NDArray[Any]]:
        most = pairs_at_most(self.name, r, lists)
        value, by_order = entry_values(self.flow, r, lists), self.flow == "order"
        settings = (float(self.unknown), float(self.tol), self.max_iter)
        rank_two(*lists, most, value, by_order, *settings, steps, out)
        return {}
