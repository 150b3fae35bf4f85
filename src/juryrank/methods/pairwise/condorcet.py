"""Condorcet fusion."""

from collections.abc import Mapping
from dataclasses import dataclass

from juryrank.data import Rankings
from juryrank.data.rankings import Floats
from juryrank.kernels.pairwise import condorcet_places
from juryrank.methods.base import Aggregator, missing_param, weights_param
from juryrank.methods.cost import Cost, check_matrix_size


@dataclass(kw_only=True)
class Condorcet(Aggregator):
    """Condorcet fusion: sort the items by pairwise majority.

    The sort starts from the number of majorities an item wins and moves an item up past its neighbour when a majority
    prefers it, so a Condorcet winner comes first and cycles are cut the same way every time. The score is the number
    of items left below; items level in wins and against each other share it.

    >>> from juryrank import from_orders
    >>> Condorcet().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).to_dict()
    {'all': {'b': 2.0, 'a': 1.0, 'c': 0.0}}

    Montague, Aslam, CIKM 2002.
    """

    name = "condorcet"
    cost = Cost("pairs of items", 14.0)
    weights: Mapping[str, float] | None = weights_param()
    missing: str = missing_param("last", "ignore", "last")

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        r = rankings
        check_matrix_size(self.name, r, "copeland")
        last = self.missing == "last"
        condorcet_places(
            r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, self.list_weights(r), last, out
        )
