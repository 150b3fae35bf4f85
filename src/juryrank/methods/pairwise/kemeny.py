"""Kemeny's rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.methods.cost import Cost
from juryrank.methods.pairwise._base import KemenyMethod


@dataclass(kw_only=True)
class Kemeny(KemenyMethod):
    """Kemeny: the order with the fewest disagreements, counted over all lists and pairs of items.

    ``exact`` splits the items of a query into groups that majorities already order, and solves each group to proven
    optimality. Cycles of majorities that no order can satisfy prove most orders of a local search to be optimal; other
    groups are solved by dynamic programming over subsets (up to 15 items) or by linear programs with branch and bound.
    ``heuristic`` starts from the Borda order and moves single items as long as this helps. ``auto`` is exact for groups
    of at most ``exact_up_to`` items. ``Consensus.details`` has the ``objective`` of each query (the weighted number of
    pairs ordered against a list; a list that ties a pair or ranks neither item does not count) and whether it is proven
    ``optimal``: no order has fewer disagreements, up to the rounding of sums of weights (about 1e-14 of them).

    >>> from juryrank import from_orders
    >>> consensus = Kemeny().fit_predict(from_orders([["a", "b", "c"], ["b", "c", "a"], ["a", "c", "b"]]))
    >>> consensus.top(), consensus.details["objective"].tolist(), consensus.details["optimal"].tolist()
    ({'all': ['a', 'b', 'c']}, [3.0], [True])

    Kemeny, 1959; Conitzer, Davenport, Kalagnanam, AAAI 2006.
    """

    name = "kemeny"
    cost = Cost("triples of items", 0.12, per_query=3e5, threaded=False)

    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]]:
        return self._kemeny(rankings, self._lists(rankings), out)
