"""The generalised Mallows model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset, Rankings, as_dataset
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.mallows import stage_margins, stage_skips, stage_thetas
from juryrank.methods.cost import Cost
from juryrank.methods.pairwise.pairwise import KemenyMethod, MarginLists
from juryrank.params import param
from juryrank.progress import track


@dataclass(kw_only=True)
class GeneralisedMallows(KemenyMethod):
    r"""Generalised Mallows: lists are noisy copies of a central order, with a dispersion for every place.

    From the top, the k-th place of a list skips v of the remaining items of the centre with weight :math:`\phi_k^v`.
    Starting from the Kemeny order, the method alternates between the dispersions of maximum likelihood and the best
    centre given them (a Kemeny order in which the k-th place of a list weighs :math:`-\log \phi_k`), as long as the
    likelihood rises. :math:`\phi_k` is 0 if no list disagrees with the centre at place k, and 1 if no list has a place
    k. Items tied at the end of a list, and with ``last`` the items it leaves out, come in any order; other tied items
    come in the order of the centre, the most likely one. With ``ignore`` a list is an order of its own items. The score
    is the number of items below. ``Consensus.details`` has the ``log_likelihood`` and the mean ``dispersion`` of the
    places; ``dispersions`` returns the dispersion of every place.

    >>> from juryrank import from_orders
    >>> consensus = GeneralisedMallows().fit_predict(from_orders([["a", "b", "c"], ["a", "c", "b"], ["a", "b", "c"]]))
    >>> consensus.top(), consensus.details["dispersion"].round(6).tolist()
    ({'all': ['a', 'b', 'c']}, [0.25])

    Fligner, Verducci, 1986.
    """

    name = "generalised-mallows"
    cost = Cost("triples of items", 1.2, per_query=1.5e6, threaded=False)
    max_iter: int = param(20, "maximum number of alternations between dispersions and centre", at_least=1)

    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]]:
        likelihood, phis = self._fit_all(rankings, out)
        return {
            "log_likelihood": likelihood,
            "dispersion": np.array([phi.mean() if len(phi) else 1 for phi in phis]),
        }

    def dispersions(self, data: Dataset | Rankings) -> list[Floats]:
        """For each query of ``data``, the dispersion of each place of a list but the last."""
        rankings = self._drop_zero_weights(as_dataset(data).rankings)
        return self._fit_all(rankings, np.zeros(rankings.n_slots))[1]

    def _fit_all(self, r: Rankings, out: Floats) -> tuple[Floats, list[Floats]]:
        """Write the scores of every query; the log-likelihood and the dispersions of each."""
        lists = self._lists(r)
        self._kemeny(r, lists, out)
        queries = track(range(len(r)), self.name)
        fits = [self._fit_query(q, lists, out[r.slot_ptr[q] : r.slot_ptr[q + 1]]) for q in queries]
        return np.array([value for value, _ in fits]), [phi for _, phi in fits]

    def _fit_query(self, q: int, lists: MarginLists, out: Floats) -> tuple[float, Floats]:
        """Improve the centre of one query in ``out``; the log-likelihood and the dispersions."""
        n = len(out)
        centre = out.copy()
        best, thetas = fit_thetas(q, lists, centre)
        for _ in range(self.max_iter):
            margin = np.empty((n, n))
            noise = stage_margins(q, lists, places(centre), thetas, margin)
            order, _ = self._best_order(margin, noise)
            new_centre = np.empty(n)
            new_centre[order] = np.arange(n)[::-1]
            value, new_thetas = fit_thetas(q, lists, new_centre)
            if not value > best + 1e-9 * abs(best):
                break
            best, thetas, centre = value, new_thetas, new_centre
        out[:] = centre
        return best, np.exp(-thetas)


def fit_thetas(q: int, lists: MarginLists, centre: Floats) -> tuple[float, Floats]:
    """The log-likelihood and the theta of every stage, for the centre with the scores ``centre``."""
    first, end = lists.list_ptr[q], lists.list_ptr[q + 1]
    skips, choices = np.zeros(len(centre)), np.zeros((end - first, 2), np.int64)
    thetas = np.zeros(max(len(centre) - 1, 0))
    if first == end:
        return 0.0, thetas
    stage_skips(q, lists, places(centre), skips, choices)
    value = stage_thetas(lists.list_weight[first:end], skips, choices, thetas)
    return float(value), thetas


def places(centre: Floats) -> Ints:
    """The place of each item, from 0, by the number of items below it."""
    return len(centre) - 1 - centre.astype(np.int64)
