"""Kemeny's rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset, Rankings, as_dataset
from juryrank.data.arrays import Floats, Ints
from juryrank.methods.cost import Cost
from juryrank.methods.pairwise._optimal_orders import OptimalOrders
from juryrank.methods.pairwise.pairwise import KemenyMethod
from juryrank.params import param


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

    ``unique`` in the details says whether the optimal order is the only one: yes, no, or unknown where this is not
    proven (an order without proof, or a cycle of more than 12 items for which no second order is known);
    ``optimal_orders`` lists the orders. The score is the number of items below. Where several orders are optimal, it is
    the number of items below in every one of them, and all items that one of them begins with share the highest score
    (an item that no list ranks is none of these). An order by such scores need not be optimal itself; with
    ``ties="broken"`` the score is the place in one optimal order, and ``unique`` is not computed.

    >>> from juryrank import from_orders
    >>> consensus = Kemeny().fit_predict(from_orders([["a", "b", "c"], ["b", "c", "a"], ["a", "c", "b"]]))
    >>> consensus.top(), consensus.details["objective"].tolist(), consensus.details["optimal"].tolist()
    ({'all': ['a', 'b', 'c']}, [3.0], [True])

    Ten voters of whom five prefer A and five B have no winner, nor has a cycle of equal majorities:

    >>> tie = Kemeny().fit_predict(from_orders(5 * [["A", "B", "C"]] + 5 * [["B", "A", "C"]]))
    >>> tie.to_dict(), tie.details["unique"].tolist()
    ({'all': {'A': 1.0, 'B': 1.0, 'C': 0.0}}, ['no'])
    >>> Kemeny().fit_predict(from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]])).ties()
    {'all': [['a', 'b', 'c']]}

    Kemeny, 1959; Conitzer, Davenport, Kalagnanam, AAAI 2006.
    """

    name = "kemeny"
    cost = Cost("triples of items", 0.12, per_query=3e5, threaded=False)
    ties: str = param(
        "shared",
        "items whose order differs among optimal orders: they share scores, or the order that was found breaks ties",
        choices=("shared", "broken"),
    )

    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]]:
        if self.ties == "broken":
            return self._kemeny(rankings, self._lists(rankings), out)
        unique, shared = np.full(len(rankings), "unknown"), np.full(len(out), np.nan)
        ranked = rankings.slot_lists > 0

        def look(q: int, margin: Floats, noises: Floats, order: Ints) -> None:
            orders = OptimalOrders(margin, noises, order)
            unique[q] = orders.unique
            if not orders.single:
                slots = slice(rankings.slot_ptr[q], rankings.slot_ptr[q + 1])
                shared[slots] = orders.scores(ranked[slots])

        details = self._kemeny(rankings, self._lists(rankings), out, look)
        np.copyto(out, shared, where=~np.isnan(shared))
        return details | {"unique": unique}

    def optimal_orders(self, data: Dataset | Rankings, *, limit: int = 20) -> dict[str, list[list[str]]]:
        """Up to ``limit`` optimal orders of each query; none where no order is proven to be optimal.

        >>> from juryrank import from_orders
        >>> Kemeny().optimal_orders(from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]))
        {'all': [['a', 'b', 'c'], ['b', 'c', 'a'], ['c', 'a', 'b']]}
        """
        self.check()
        r = self._drop_zero_weights(as_dataset(data).rankings)
        out: dict[str, list[list[str]]] = {query: [] for query in r.queries}

        def look(q: int, margin: Floats, noises: Floats, order: Ints) -> None:
            names = r.items[r.slot_item[r.slot_ptr[q] : r.slot_ptr[q + 1]]]
            out[r.queries[q]] = [names[one].tolist() for one in OptimalOrders(margin, noises, order).listed(limit)]

        self._kemeny(r, self._lists(r), np.zeros(r.n_slots), look)
        return out
