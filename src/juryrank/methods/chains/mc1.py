"""Markov chain MC1."""

from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.methods.chains.chain import ListChain, count_at_or_above, inverse
from juryrank.methods.lists import sums_at


@dataclass(kw_only=True)
class MC1(ListChain):
    """MC1: from an item, move to a random entry ranked at or above it in any of the lists that rank the item.

    All such entries, over all lists, have the same probability; tied entries count as at the same rank. With ``last``
    the unranked items of a list are tied below it.

    >>> from juryrank import from_orders
    >>> MC1().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).top()
    {'all': ['b', 'a', 'c']}

    Dwork, Kumar, Naor, Sivakumar, WWW 2001.
    """

    name = "mc1"

    def _shares(self, rankings: Rankings, weight: Floats, last: bool) -> tuple[Floats, Floats, Floats]:
        r = rankings
        entry = np.repeat(weight, r.list_size)
        targets = sums_at(r.entry_slot, entry * count_at_or_above(r), r.n_slots)
        if last:
            everything = weight * r.query_size[r.list_query]
            per_query = sums_at(r.list_query, everything, len(r))
            listed = sums_at(r.entry_slot, np.repeat(everything, r.list_size), r.n_slots)
            targets += np.repeat(per_query, r.query_size) - listed
        return inverse(targets), entry, weight if last else np.zeros(r.n_lists)
