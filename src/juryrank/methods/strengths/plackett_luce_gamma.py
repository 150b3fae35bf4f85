"""Plackett–Luce with a Gamma prior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset, Rankings, as_dataset
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.lists import Lists
from juryrank.kernels.ragged import parents
from juryrank.kernels.strengths import list_information, list_strengths
from juryrank.methods.cost import check_matrix_size
from juryrank.methods.strengths.strengths import Strength, lists_with_tail, logistic, tol_param
from juryrank.params import param


@dataclass(kw_only=True)
class PlackettLuceGamma(Strength):
    r"""Bayesian Plackett–Luce: worths have a Gamma prior, and the score is the log of their posterior mean.

    Worth :math:`w_i \sim \Gamma(a, 1)`, a = ``shape``; the likelihood is that of plackett-luce with odds w, with the
    same treatment of ties and missing items. The posterior of log w is approximated by a normal distribution around
    its mode (Laplace's method); for a Gamma posterior this gives the exact mean and standard deviation of w. The common
    scale of the worths is arbitrary, so scores are centred in each query. ``posterior`` gives the mean share of each
    item in the total worth of its query, and its standard deviation.

    >>> from juryrank import from_orders
    >>> data = from_orders([["a", "b", "c"], ["b", "a", "c"], ["a", "b"]])
    >>> PlackettLuceGamma().fit_predict(data).top()
    {'all': ['a', 'b', 'c']}
    >>> mean, spread = PlackettLuceGamma().posterior(data)
    >>> mean.round(2).tolist(), spread.round(2).tolist()
    ([0.46, 0.36, 0.17], [0.16, 0.15, 0.12])

    Guiver, Snelson, ICML 2009; Caron, Doucet, 2012.
    """

    name = "plackett-luce-gamma"
    chance = staticmethod(logistic)
    shape: float = param(2.0, "shape of the Gamma prior: large values shrink the differences of worths", above=0)
    tol: float = tol_param()
    max_iter: int = param(100, "maximum number of Newton steps", at_least=1)

    def posterior(self, data: Dataset | Rankings) -> tuple[Floats, Floats]:
        """For each slot, the mean share of the worth of its query, and the standard deviation of that share."""
        self.check()
        r = self._drop_zero_weights(as_dataset(data).rankings)
        check_matrix_size(self.name, r, "plackett-luce")
        lists = lists_with_tail(r, self.list_weights(r), self.missing)
        log_worth = self._log_worth(lists, np.zeros(len(r), np.int64))
        mean, spread = np.zeros(r.n_slots), np.zeros(r.n_slots)
        for q in range(len(r)):
            here = slice(r.slot_ptr[q], r.slot_ptr[q + 1])
            known = np.empty((r.query_size[q] + 1,) * 2)
            list_information(q, lists, float(self.shape), 1.0, 0.0, log_worth[here], known)
            share = np.exp(log_worth[here] - log_worth[here].max(initial=-np.inf))
            share /= share.sum()
            turn = np.diag(share) - np.outer(share, share)
            mean[here] = share
            spread[here] = np.sqrt(np.einsum("ij,jk,ik->i", turn, np.linalg.inv(known[:-1, :-1]), turn))
        return mean, spread

    def _strengths(self, r: Rankings, lists: Lists, steps: Ints, out: Floats) -> Mapping[str, NDArray[Any]]:
        log_worth = self._log_worth(lists, steps)
        total = np.bincount(parents(r.slot_ptr), log_worth, minlength=len(r))
        out[:] = log_worth - np.repeat(total / np.maximum(r.query_size, 1), r.query_size)
        return {}

    def _log_worth(self, lists: Lists, steps: Ints) -> Floats:
        log_worth = np.full(lists.slot_ptr[-1], np.log(self.shape))
        list_strengths(lists, float(self.shape), 1.0, 0.0, float(self.tol), self.max_iter, steps, log_worth)
        return log_worth
