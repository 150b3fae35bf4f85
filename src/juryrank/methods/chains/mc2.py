"""Markov chain MC2."""

from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.methods.chains.chain import ListChain, count_at_or_above, inverse
from juryrank.methods.lists import slot_weight


@dataclass(kw_only=True)
class MC2(ListChain):
    """MC2: choose a list that ranks the item, then move to a random item that this list ranks at or above it.

    Lists are chosen by weight, the items of the list uniformly; tied items count as at the same rank. With ``last`` the
    unranked items of a list are tied below it.

    >>> from juryrank import from_orders
    >>> MC2().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).top()
    {'all': ['b', 'a', 'c']}

    Dwork, Kumar, Naor, Sivakumar, WWW 2001.
    """

    name = "mc2"

    def _shares(self, rankings: Rankings, weight: Floats, last: bool) -> tuple[Floats, Floats, Floats]:
        r = rankings
        entry = np.repeat(weight, r.list_size) / count_at_or_above(r)
        tail = weight / r.query_size[r.list_query] if last else np.zeros(r.n_lists)
        return inverse(slot_weight(r, weight, last=last)), entry, tail
