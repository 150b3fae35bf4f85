"""Kemeny's rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.rankings import Floats, Ints
from juryrank.kernels.pairwise import borda_order, insertion_search, kendall_distance, local_kemeny, margins
from juryrank.methods.base import Aggregator, missing_param, weights_param
from juryrank.methods.cost import Cost, check_matrix_size
from juryrank.params import param


@dataclass(kw_only=True)
class Kemeny(Aggregator):
    """Kemeny: the order with the fewest disagreements, counted over all lists and pairs of items.

    ``exact`` splits the query into groups that majorities already put in order and solves each with a proof: up to 15
    items by dynamic programming over subsets, more by linear programs and branching. ``heuristic`` starts from the
    Borda order and moves single items while that helps. ``auto`` is exact where the largest such group has at most
    ``exact_up_to`` items. ``Consensus.details`` has the ``objective`` of each query (pairs ordered against a list, by
    weight; a list that ties a pair or misses both items says nothing) and whether it is proven ``optimal``: that no
    order has fewer disagreements, up to the rounding of sums of weights (some 1e-14 of them).

    >>> from juryrank import from_orders
    >>> consensus = Kemeny().fit_predict(from_orders([["a", "b", "c"], ["b", "c", "a"], ["a", "c", "b"]]))
    >>> consensus.top(), consensus.details["objective"].tolist(), consensus.details["optimal"].tolist()
    ({'all': ['a', 'b', 'c']}, [3.0], [True])

    Kemeny, 1959; Conitzer, Davenport, Kalagnanam, AAAI 2006.
    """

    name = "kemeny"
    cost = Cost("triples of items", 0.12, per_query=2.3e6, threaded=False)
    weights: Mapping[str, float] | None = weights_param()
    missing: str = missing_param("last", "ignore", "last")
    solver: str = param("auto", "how to search", choices=("auto", "exact", "heuristic"))
    exact_up_to: int = param(30, "items of a group that auto still solves exactly", at_least=1)

    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]]:
        r = rankings
        check_matrix_size(self.name, r, "borda")
        last = self.missing == "last"
        lists = (r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, self.list_weights(r), last)
        optimal = np.zeros(len(r), bool)
        if self.solver == "heuristic":
            local_kemeny(*lists, out)
        else:
            for q in range(len(r)):
                margin = np.empty((r.query_size[q], r.query_size[q]))
                noise = margins(q, *lists, margin)
                order, optimal[q] = self._order(margin, noise)
                out[r.slot_ptr[q] + order] = np.arange(len(order))[::-1]
        objective = np.zeros(len(r))
        kendall_distance(*lists, out, objective)
        return {"objective": objective, "optimal": optimal}

    def _order(self, margin: Floats, noises: Floats) -> tuple[Ints, bool]:
        """The best order of one query, group by group, and whether it is proven; ``noises`` of margins, by item."""
        from juryrank.methods.pairwise._linear_ordering import best_order, majority_groups

        order: list[Ints] = []
        proven = True
        for group in majority_groups(margin, float(noises.max(initial=0.0))):
            noise = float(noises[group].max())
            inner = np.ascontiguousarray(margin[np.ix_(group, group)])
            found = borda_order(inner, noise)
            insertion_search(inner, found, noise)
            if len(group) > 2:
                sure = False
                if self.solver == "exact" or len(group) <= self.exact_up_to:
                    found, sure = best_order(inner, found, noise)
                proven &= sure
            order.append(group[found])
        return (np.concatenate(order) if order else np.empty(0, np.int64)), proven
