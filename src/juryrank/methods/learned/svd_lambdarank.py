"""LambdaRank on singular vectors of each expert's preference matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.learning.expert_groups import ExpertGroups
from juryrank.methods.formula import Formula
from juryrank.methods.learned.lambdarank import LambdaRank
from juryrank.methods.learned.preferences import form_param, singular_values, svd_values
from juryrank.params import param


@dataclass(kw_only=True)
class SVDLambdaRank(LambdaRank):
    r"""LambdaRank on the first singular vectors of each expert's matrix of preferences ("SVDsup").

    :math:`s_i = \sum_k w_k^\top [u_{ki}, v_{ki}]` over the experts k that ranked the item, plus :math:`b_k` for those
    that did not, where :math:`Y_k = \sum_t \sigma_t u_t v_t^\top` holds the preferences of expert k over the items that
    it ranked. No matrix is built: products with it are sums along the list. With ``hybrid`` the lists of all experts
    without weights of their own are added up into one matrix. Between tied items there is no preference. With
    ``singular_values``, as in the paper, :math:`w_k^\top [u_{ki}, v_{ki}, \sigma_k]`: what being ranked adds to an
    item then also depends on the preferences of the whole list.

    Volkovs, Larochelle, Zemel, CIKM 2012.
    """

    name = "svd-lambdarank"
    weighted: ClassVar[bool] = False  # weights are in the matrices
    form: str = form_param()
    rate: float = param(0.003, "step size", above=0)
    rank: int = param(1, "number of singular vectors of each matrix", at_least=1)
    singular_values: bool = param(False, "also use the singular values, the same for all items that a list ranks")

    def formula(self) -> Formula | None:
        """Linear in the singular vectors of a list; where experts are pooled, these are of several lists together."""
        individual = self.experts == "individual" and not self.hidden
        return Formula(depends_on=("place", "length")) if individual else None

    def _value_names(self) -> tuple[str, ...]:
        kinds = ("u", "v", "s") if self.singular_values else ("u", "v")
        return ("ranked", *(f"{kind}{t}" for kind in kinds for t in range(1, self.rank + 1)))

    def _width(self) -> int:
        return len(self._value_names())

    def _values(self, rankings: Rankings, groups: ExpertGroups) -> Floats:
        values = svd_values(rankings, groups, self.form, self.rank)
        if not self.singular_values:
            return values
        return np.hstack([values, singular_values(rankings, groups, self.form, values[:, 1:])])
