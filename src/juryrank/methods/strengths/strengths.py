"""What the models of strengths share: items that a list leaves out as its tail, a prior, limits of memory."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.errors import DataError, warn_not_converged
from juryrank.kernels.lists import Lists, most_pairs
from juryrank.kernels.ragged import children, parents, sizes_to_ptr
from juryrank.methods.base import Aggregator, missing_param, weights_param
from juryrank.params import param

TAIL_LIMIT = 50_000_000  # entries of the lists with their missing items: about a gigabyte
PAIR_LIMIT = 10_000_000  # pairs of items in one query: about two gigabytes

PRIOR = 0.1  # weak enough for confidence intervals to have their nominal coverage


def prior_param() -> Any:
    """The parameter ``prior``, the same wherever strengths have a normal prior."""
    return param(PRIOR, "precision of the normal prior on strengths around 0; keeps undefeated items finite", above=0)


def tol_param(default: float = 1e-9) -> Any:
    """The parameter ``tol`` of models that match the wins of each item with its expected wins."""
    return param(default, "stop when the wins and the expected wins of every item differ by this share", above=0)


@dataclass(kw_only=True)
class Strength(Aggregator):
    """Score = strength of the item, on a scale where differences give the probability to win."""

    weights: Mapping[str, float] | None = weights_param()
    missing: str = missing_param("ignore", "ignore", "last")

    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]]:
        steps = np.zeros(len(rankings), np.int64)
        lists = lists_with_tail(rankings, self.list_weights(rankings), self.missing)
        details = self._strengths(rankings, lists, steps, out)
        warn_of_queries(self.name, steps, self.max_iter)
        return {"steps": steps, **details}

    @property
    @abstractmethod
    def max_iter(self) -> int:
        """The maximum number of steps; a parameter of the method."""

    @abstractmethod
    def _strengths(self, r: Rankings, lists: Lists, steps: Ints, out: Floats) -> Mapping[str, NDArray[Any]]:
        """Write the strengths of every query and the number of steps; may return details per query."""


def logistic(lead: Any) -> Any:
    """The probability to win with odds exp(lead)."""
    return 1.0 / (1.0 + np.exp(-lead))


def warn_of_queries(name: str, steps: Ints, max_iter: int) -> None:
    """Warn of the queries that did not converge; a kernel reports them with max_iter + 1 steps."""
    if failed := int((steps > max_iter).sum()):
        warn_not_converged(name, f"{failed} of {len(steps)} queries", max_iter)


def lists_with_tail(r: Rankings, weight: Floats, missing: str) -> Lists:
    """The lists as the kernels of strengths take them; with ``missing="last"`` unranked items form a tail."""
    if missing == "ignore":
        tail = np.zeros(r.n_lists, np.int64)
        return Lists(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, weight, tail)
    total = r.query_size[r.list_query]
    if (entries := int(total.sum())) > TAIL_LIMIT:
        raise DataError(
            f"missing='last' would add the items that each of {r.n_lists} lists leaves out, {entries} entries in all; "
            "use missing='ignore'"
        )
    entry_ptr = sizes_to_ptr(total)
    slot = children(r.slot_ptr, r.list_query)
    rank = np.full(entries, np.inf)
    own = parents(r.entry_ptr)
    rank[entry_ptr[own] + r.entry_slot - r.slot_ptr[r.list_query[own]]] = r.entry_rank
    order = np.lexsort((rank, parents(entry_ptr)))
    entry_slot, tail = slot[order].astype(np.int32), total - r.list_size
    return Lists(r.slot_ptr, r.list_ptr, entry_ptr, entry_slot, rank[order], weight, tail)


def max_pairs(name: str, r: Rankings, lists: Lists) -> Ints:
    """The maximum number of pairs of items of each query; a DataError where they would take too much memory."""
    most = np.empty(len(r), np.int64)
    most_pairs(lists, most)
    if (largest := int(most.max(initial=0))) > PAIR_LIMIT:
        raise DataError(
            f"{name} stores the pairs of items that lists compare, up to {PAIR_LIMIT} in a query; query "
            f"{r.queries[int(most.argmax())]!r} may have {largest}; use plackett-luce or borda, or cut the lists"
        )
    return most
