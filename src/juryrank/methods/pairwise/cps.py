"""The coset-permutation distance based stagewise model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data import Dataset
from juryrank.methods.cost import Cost
from juryrank.methods.pairwise.coset import Coset


@dataclass(kw_only=True)
class CPS(Coset):
    r"""Coset-permutation stagewise model: each stage selects the item that keeps the order nearest to all lists.

    Stage k selects item x with probability proportional to :math:`\exp(-\sum_m \theta_m \hat d(S_x, \sigma_m))`, where
    :math:`\hat d` is the mean distance from list m to all orders that begin with the items selected so far and x. The
    consensus takes the most probable item at every stage; its score is the number of items below. All experts have the
    same weight (``theta-cps`` learns weights). Distances are between complete orders: items that a list leaves out are
    tied below it; tied items share the mean of their places, and a tie counts as half a disagreement. Items of equal
    probability keep the order of the slots. With ``spearman`` the consensus is the order of mean places; with
    ``kendall`` each stage selects the Borda winner among the items left.

    >>> from juryrank import from_orders
    >>> CPS().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).top()
    {'all': ['b', 'a', 'c']}

    Qin, Geng, Liu, NIPS 2010.
    """

    name = "cps"
    cost = Cost("pairs in lists", 8.0)

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        self.experts_, self.theta_ = [], np.empty(0)
