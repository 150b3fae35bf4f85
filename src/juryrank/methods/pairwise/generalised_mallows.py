"""The generalised Mallows model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset, Rankings, as_dataset
from juryrank.data.rankings import Floats
from juryrank.kernels.mallows import stage_margins, stage_skips, stage_thetas
from juryrank.methods.base import Aggregator, missing_param, weights_param
from juryrank.methods.cost import Cost
from juryrank.methods.pairwise.kemeny import Kemeny
from juryrank.params import param


@dataclass(kw_only=True)
class GeneralisedMallows(Aggregator):
    r"""Generalised Mallows: lists are noisy copies of a centre, with a dispersion for every place.

    From the top, the k-th place of a list skips v of the centre's items left with weight :math:`\phi_k^v`. Starting
    from the Kemeny order, the dispersions of highest likelihood and the centre of lowest cost under them (a Kemeny
    order of lists whose k-th place weighs :math:`-\log \phi_k`) are found in turn while the likelihood rises. A place
    that nobody fills against the centre has :math:`\phi_k = 0`; one that nobody fills, 1. Items tied at the end of a
    list, and with ``last`` the items it leaves out, come in any order; items tied before that in the order of the
    centre, the likeliest. With ``ignore`` a list is an order of its own items. Scores count the items left below.
    ``Consensus.details`` has the ``log_likelihood`` and the mean ``dispersion`` of the places; ``dispersions`` has all.

    >>> from juryrank import from_orders
    >>> consensus = GeneralisedMallows().fit_predict(from_orders([["a", "b", "c"], ["a", "c", "b"], ["a", "b", "c"]]))
    >>> consensus.top(), consensus.details["dispersion"].round(6).tolist()
    ({'all': ['a', 'b', 'c']}, [0.25])

    Fligner, Verducci, 1986.
    """

    name = "generalised-mallows"
    cost = Cost("triples of items", 3.3, per_query=11e6, threaded=False)
    weights: Mapping[str, float] | None = weights_param()
    missing: str = missing_param("last", "ignore", "last")
    solver: str = param("auto", "how to search for the centre", choices=("auto", "exact", "heuristic"))
    exact_up_to: int = param(30, "items of a group that auto still solves exactly", at_least=1)
    max_iter: int = param(20, "turns of dispersions and centre at most", at_least=1)

    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]]:
        kemeny = self._kemeny()
        kemeny._scores(rankings, out)
        found = [self._turns(rankings, q, kemeny, out) for q in range(len(rankings))]
        likelihood = np.array([value for value, _ in found])
        return {
            "log_likelihood": likelihood,
            "dispersion": np.array([phi.mean() if len(phi) else 1 for _, phi in found]),
        }

    def dispersions(self, data: Dataset | Rankings) -> list[Floats]:
        """Of each query of ``data``, the dispersion of each place of a list but the last."""
        rankings = self._drop_zero_weights(as_dataset(data).rankings)
        kemeny, out = self._kemeny(), np.zeros(rankings.n_slots)
        kemeny._scores(rankings, out)
        return [self._turns(rankings, q, kemeny, out)[1] for q in range(len(rankings))]

    def _kemeny(self) -> Kemeny:
        shared = {name: value for name, value in self.params().items() if name != "max_iter"}
        return Kemeny(**shared)

    def _turns(self, r: Rankings, q: int, kemeny: Kemeny, out: Floats) -> tuple[float, Floats]:
        """Improve the centre of one query in ``out``; gives the log-likelihood and the dispersions."""
        lo, hi = r.slot_ptr[q], r.slot_ptr[q + 1]
        weight = self.list_weights(r)
        lists = (r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, weight, self.missing == "last")
        centre = out[lo:hi].copy()
        best, thetas = self._fit(q, lists, centre)
        for _ in range(self.max_iter):
            margin = np.zeros((hi - lo, hi - lo))
            noise = stage_margins(q, *lists, -centre, thetas, margin)
            order, _ = kemeny._order(margin, noise)
            turned = np.empty(hi - lo)
            turned[order] = np.arange(len(order))[::-1]
            value, found = self._fit(q, lists, turned)
            if not value > best + 1e-9 * abs(best):
                break
            best, thetas, centre = value, found, turned
        out[lo:hi] = centre
        return best, np.exp(-thetas)

    def _fit(self, q: int, lists: tuple[Any, ...], centre: Floats) -> tuple[float, Floats]:
        """The log-likelihood and the theta of every stage, for the centre that scores like ``centre``."""
        list_ptr, weight = lists[1], lists[5]
        n_lists = int(list_ptr[q + 1] - list_ptr[q])
        skips, choices = np.zeros(len(centre)), np.zeros((n_lists, 2), np.int64)
        thetas = np.zeros(max(len(centre) - 1, 0))
        if not n_lists:
            return 0.0, thetas
        stage_skips(q, *lists, -centre, skips, choices)
        value = stage_thetas(weight[list_ptr[q] : list_ptr[q + 1]], skips, choices, thetas)
        return float(value), thetas
