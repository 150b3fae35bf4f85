"""Robust rank aggregation."""

from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.methods.base import Aggregator, missing_param
from juryrank.methods.lists import slot_weight


@dataclass(kw_only=True)
class RRA(Aggregator):
    """Robust rank aggregation: how unlikely the item's best places are in random lists, as -log p.

    The j-th best of an item's n places, as shares of the query's items, is compared with the j-th of n uniform numbers
    (a beta distribution); the smallest of these probabilities, times n, is p. With ``last`` an expert that did not
    rank the item gives it the share 1; with ``ignore`` n counts only the lists with the item. Ties share their place.

    A list of weight w counts as w lists: the last of its copies is the least likely, so j and n are sums of weights,
    which need not be whole numbers.

    >>> from juryrank import from_orders
    >>> RRA().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).top()
    {'all': ['b', 'a', 'c']}

    Kolde, Laur, Adler, Vilo, Bioinformatics 2012.
    """

    name = "rra"
    missing: str = missing_param("last", "ignore", "last")

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        from scipy.special import betainc

        r = rankings
        if not r.n_entries:
            return
        share = r.entry_place / np.repeat(r.query_size[r.list_query], r.list_size)
        order = np.lexsort((share, r.entry_slot))
        slot, share = r.entry_slot[order], share[order]
        new = np.ones(len(slot), bool)
        new[1:] = slot[1:] != slot[:-1]
        start = np.flatnonzero(new)
        weight = self.list_weights(r)
        passed = np.append(0.0, np.cumsum(np.repeat(weight, r.list_size)[order]))
        nth = passed[1:] - np.repeat(passed[start], np.diff(np.append(start, len(slot))))
        n = slot_weight(r, weight, last=self.missing == "last")
        chance = betainc(nth, n[slot] - nth + 1, share)
        p = np.minimum.reduceat(chance, start) * n[slot[start]]
        out[:] = -np.log(np.where(n > 0, n, 1.0))
        out[slot[start]] = -np.log(np.maximum(p, np.finfo(float).tiny))
