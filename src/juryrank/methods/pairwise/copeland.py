"""Copeland's method."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.rankings import Floats
from juryrank.kernels.pairwise import wins_and_losses
from juryrank.methods.base import Aggregator, missing_param, weights_param
from juryrank.methods.cost import Cost


@dataclass(kw_only=True)
class Copeland(Aggregator):
    """Copeland: the items it beats in a majority of the lists, less the items that beat it.

    A list that ranks neither item, or ties them, says nothing about the pair. Memory grows with the entries, time
    with the squares of the lengths of the lists.

    >>> from juryrank import from_orders
    >>> Copeland().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).to_dict()
    {'all': {'b': 2.0, 'a': 0.0, 'c': -2.0}}

    Copeland, 1951; Saari, Merlin, Economic Theory 1996.
    """

    name = "copeland"
    cost = Cost("pairs of items", 11.0)
    weights: Mapping[str, float] | None = weights_param()
    missing: str = missing_param("last", "ignore", "last")

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        r = rankings
        lost = np.zeros(r.n_slots)
        last = self.missing == "last"
        wins_and_losses(
            r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, self.list_weights(r), last, out, lost
        )
        out -= lost
