"""Copeland's method."""

from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.kernels.pairwise import wins_and_losses
from juryrank.methods.cost import Cost
from juryrank.methods.pairwise._base import PairwiseMethod


@dataclass(kw_only=True)
class Copeland(PairwiseMethod):
    """Copeland: the number of items that the item beats by majority, minus the number of items that beat it.

    A list that ranks neither item of a pair, or ties them, does not count. Memory grows with the number of entries,
    time with the squares of the lengths of the lists.

    >>> from juryrank import from_orders
    >>> Copeland().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).to_dict()
    {'all': {'b': 2.0, 'a': 0.0, 'c': -2.0}}

    Copeland, 1951; Saari, Merlin, Economic Theory 1996.
    """

    name = "copeland"
    cost = Cost("pairs of items", 11.0)

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        lost = np.zeros(rankings.n_slots)
        wins_and_losses(*self._lists(rankings), out, lost)
        out -= lost
