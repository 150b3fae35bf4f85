"""What the pairwise methods share: parameters, the lists as their kernels take them, the Kemeny order."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.pairwise import kendall_distance, margins
from juryrank.methods.base import Aggregator, missing_param, weights_param
from juryrank.methods.cost import check_matrix_size
from juryrank.methods.pairwise._groups import best_order, majority_groups, searched_order
from juryrank.params import param
from juryrank.progress import track

Proven = Callable[[int, Floats, Floats, Ints], None]  # query, margins, their noises by item, an optimal order


class MarginLists(NamedTuple):
    """The lists of all queries as the kernels of ``pairwise``, ``mallows`` and ``cps`` take them."""

    slot_ptr: Ints
    list_ptr: Ints
    entry_ptr: Ints
    entry_slot: NDArray[Any]
    entry_rank: Floats
    list_weight: Floats
    last: bool  # whether a list puts the items it leaves out in the last place


@dataclass(kw_only=True)
class PairwiseMethod(Aggregator):
    """A method that compares all pairs of items of a query."""

    weights: Mapping[str, float] | None = weights_param()
    missing: str = missing_param("last", "ignore", "last")

    @abstractmethod
    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]] | None:
        """Write one score per slot into ``out``; may return details per query."""

    def _lists(self, r: Rankings) -> MarginLists:
        """The lists as kernels take them."""
        return MarginLists(
            r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, self.list_weights(r),
            self.missing == "last",
        )  # fmt: skip


@dataclass(kw_only=True)
class KemenyMethod(PairwiseMethod):
    """A method whose consensus is a Kemeny order, or starts from one."""

    solver: str = param("auto", "how to search for the Kemeny order", choices=("auto", "exact", "heuristic"))
    exact_up_to: int = param(30, "largest group of items that auto solves exactly", at_least=1)

    def _kemeny(
        self, r: Rankings, lists: MarginLists, out: Floats, proven: Proven | None = None
    ) -> dict[str, NDArray[Any]]:
        """Write the number of items below each slot in the Kemeny order; the objective, and whether it is optimal.

        ``proven`` is called with each query whose order is optimal.
        """
        check_matrix_size(self.name, r, "borda")
        optimal = np.zeros(len(r), bool)
        for q in track(range(len(r)), self.name):
            margin = np.empty((r.query_size[q], r.query_size[q]))
            noises = margins(q, lists, margin)
            if self.solver == "heuristic":
                order = searched_order(margin, float(noises.max(initial=0.0)))
            else:
                order, optimal[q] = self._best_order(margin, noises)
            out[r.slot_ptr[q] + order] = np.arange(len(order))[::-1]
            if proven is not None and optimal[q]:
                proven(q, margin, noises, order)
        objective = np.zeros(len(r))
        kendall_distance(lists, out, objective)
        return {"objective": objective, "optimal": optimal}

    def _best_order(self, margin: Floats, noises: Floats) -> tuple[Ints, bool]:
        """The best order of one query, group by group, and whether it is proven; ``noises`` of the margins by item."""
        order, ptr = majority_groups(margin, float(noises.max(initial=0.0)))
        proven = True
        for g in np.flatnonzero(np.diff(ptr) > 1):
            group = order[ptr[g] : ptr[g + 1]]
            noise = float(noises[group].max())
            inner = np.ascontiguousarray(margin[np.ix_(group, group)]) if len(group) < len(margin) else margin
            found = searched_order(inner, noise)
            sure = False
            if self.solver == "exact" or len(group) <= self.exact_up_to:
                found, sure = best_order(inner, found, noise)
            proven &= sure
            group[:] = group[found]
        return order, proven
