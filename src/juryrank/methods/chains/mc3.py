"""Markov chain MC3."""

from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.methods.chains.chain import ListChain, inverse
from juryrank.methods.cost import Cost
from juryrank.methods.lists import slot_weight


@dataclass(kw_only=True)
class MC3(ListChain):
    """MC3: choose a list that ranks the item and one of its items; move there if the list ranks it above, else stay.

    Lists are chosen by weight, the items of the list uniformly; for a tie the walk stays. With ``last`` the unranked
    items of a list are tied below it.

    >>> from juryrank import from_orders
    >>> MC3().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).top()
    {'all': ['b', 'a', 'c']}

    Dwork, Kumar, Naor, Sivakumar, WWW 2001.
    """

    name = "mc3"
    cost = Cost("entries", 2500.0)
    strict = True

    def _shares(self, rankings: Rankings, weight: Floats, last: bool) -> tuple[Floats, Floats, Floats]:
        r = rankings
        size = r.query_size[r.list_query] if last else r.list_size
        share = weight / size
        return (
            inverse(slot_weight(r, weight, last=last)),
            np.repeat(share, r.list_size),
            share if last else np.zeros(r.n_lists),
        )
