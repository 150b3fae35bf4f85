"""HodgeRank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.lists import Lists
from juryrank.kernels.spectral import least_squares
from juryrank.methods.strengths._entry_values import entry_values, flow_param
from juryrank.methods.strengths.strengths import Strength, prior_param
from juryrank.params import param


@dataclass(kw_only=True)
class HodgeRank(Strength):
    r"""HodgeRank: strengths whose differences fit the preferences of the lists in least squares.

    Minimises :math:`\sum_m w_m \sum_{i<j \in m} (s_i - s_j - \phi_m(i, j))^2 + \lambda \sum_i s_i^2` with λ =
    ``prior`` and the preference :math:`\phi` as set by ``flow``. With ``last`` the items that a list leaves out are one
    rank below it and have its lowest score; they are not compared with each other.

    >>> from juryrank import from_orders
    >>> HodgeRank().fit_predict(from_orders([["a", "b", "c"], ["b", "a"], ["a", "c"]])).top()
    {'all': ['a', 'b', 'c']}

    Jiang, Lim, Yao, Ye, Mathematical Programming 2011.
    """

    name = "hodge-rank"
    flow: str = flow_param("order")
    prior: float = prior_param()
    tol: float = param(1e-12, "stop when the residual is this share of the initial one", above=0)
    max_iter: int = param(10_000, "maximum number of conjugate gradient steps", at_least=1)

    def _strengths(self, r: Rankings, lists: Lists, steps: Ints, out: Floats) -> Mapping[str, NDArray[Any]]:
        value, by_order = entry_values(self.flow, r, lists), self.flow == "order"
        least_squares(lists, value, by_order, float(self.prior), float(self.tol), self.max_iter, steps, out)
        return {}
