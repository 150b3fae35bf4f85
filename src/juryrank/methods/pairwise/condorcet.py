"""Condorcet fusion."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.kernels.pairwise import condorcet_places
from juryrank.methods.cost import Cost, check_matrix_size
from juryrank.methods.pairwise.majorities import lazy_facts
from juryrank.methods.pairwise.pairwise import PairwiseMethod


@dataclass(kw_only=True)
class Condorcet(PairwiseMethod):
    """Condorcet fusion: sort the items by pairwise majority.

    The sort starts from the number of majorities that an item wins and moves an item up past its neighbour if a
    majority prefers it, so a Condorcet winner comes first and cycles are broken deterministically. The score is the
    number of items below; neighbours with equally many wins and no majority between them share it.
    ``Consensus.details`` has ``condorcet`` and ``smith_set`` as in ``copeland``.

    >>> from juryrank import from_orders
    >>> Condorcet().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).to_dict()
    {'all': {'b': 2.0, 'a': 1.0, 'c': 0.0}}

    Montague, Aslam, CIKM 2002.
    """

    name = "condorcet"
    cost = Cost("pairs of items", 14.0)

    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]]:
        check_matrix_size(self.name, rankings, "copeland")
        lists = self._lists(rankings)
        condorcet_places(lists, out)
        return lazy_facts(rankings, lists)
