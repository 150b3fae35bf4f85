"""What the pairwise methods share: parameters, the lists as their kernels take them, the Kemeny order."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.linear_ordering import HEURISTIC, OPEN, PROVEN, best_groups, kemeny_orders
from juryrank.kernels.pairwise import kendall_distance, local_kemeny, margins
from juryrank.methods.base import Aggregator, missing_param, weights_param
from juryrank.methods.cost import check_matrix_size
from juryrank.params import param
from juryrank.progress import track


class MarginLists(NamedTuple):
    """The lists of all queries; the kernels of ``pairwise`` and ``mallows`` take these values in this order."""

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

    def _kemeny(self, r: Rankings, lists: MarginLists, out: Floats) -> dict[str, NDArray[Any]]:
        """Write the number of items below each slot in the Kemeny order; the objective, and whether it is optimal."""
        check_matrix_size(self.name, r, "borda")
        state = np.full(len(r), HEURISTIC)
        if self.solver == "heuristic":
            local_kemeny(*lists, out)
        else:
            limit = int(r.query_size.max(initial=0)) if self.solver == "exact" else self.exact_up_to
            kemeny_orders(*lists, limit, state, out)
            for q in track(np.flatnonzero(state == OPEN).tolist(), self.name):
                margin = np.empty((r.query_size[q], r.query_size[q]))
                order, proven = self._best_order(margin, margins(q, *lists, margin))
                out[r.slot_ptr[q] + order], state[q] = np.arange(len(order))[::-1], PROVEN if proven else HEURISTIC
        objective = np.zeros(len(r))
        kendall_distance(*lists, out, objective)
        return {"objective": objective, "optimal": state == PROVEN}

    def _best_order(self, margin: Floats, noises: Floats) -> tuple[Ints, bool]:
        """The best order of one query, group by group, and whether it is proven; ``noises`` of the margins by item."""
        n = len(margin)
        order, ptr, state = np.empty(n, np.int64), np.empty(n + 1, np.int64), np.empty(n, np.int64)
        limit = n if self.solver == "exact" else self.exact_up_to
        n_groups = best_groups(margin, noises, limit, order, ptr, state)
        for g in np.flatnonzero(state[:n_groups] == OPEN):
            from juryrank.methods.pairwise._linear_ordering import best_order

            items = order[ptr[g] : ptr[g + 1]]
            group = np.sort(items)
            inner = np.ascontiguousarray(margin[np.ix_(group, group)])
            found, proven = best_order(inner, np.searchsorted(group, items), float(noises[group].max()))
            items[:], state[g] = group[found], PROVEN if proven else HEURISTIC
        return order, bool((state[:n_groups] == PROVEN).all())
