"""Copeland's method."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.kernels.pairwise import wins_and_losses
from juryrank.methods.cost import Cost
from juryrank.methods.pairwise.majorities import lazy_facts
from juryrank.methods.pairwise.pairwise import PairwiseMethod


@dataclass(kw_only=True)
class Copeland(PairwiseMethod):
    """Copeland: the number of items that the item beats by majority, minus the number of items that beat it.

    A list that ranks neither item of a pair, or ties them, does not count. Memory grows with the number of entries,
    time with the squares of the lengths of the lists. ``Consensus.details`` says for each query, when it is looked at,
    whether there is a ``condorcet`` winner, weak winners that nobody beats, or a cycle, and names the ``smith_set``:
    the smallest set of items that all beat every other item.

    >>> from juryrank import from_orders
    >>> Copeland().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).to_dict()
    {'all': {'b': 2.0, 'a': 0.0, 'c': -2.0}}
    >>> cycle = Copeland().fit_predict(from_orders([["a", "b", "c", "d"], ["b", "c", "a", "d"], ["c", "a", "b", "d"]]))
    >>> cycle.details["condorcet"].tolist(), cycle.details["smith_set"].tolist()
    (['cycle'], [('a', 'b', 'c')])

    Copeland, 1951; Saari, Merlin, Economic Theory 1996.
    """

    name = "copeland"
    cost = Cost("pairs of items", 11.0)

    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]]:
        lost, lists = np.zeros(rankings.n_slots), self._lists(rankings)
        wins_and_losses(lists, out, lost)
        out -= lost
        return lazy_facts(rankings, lists)
