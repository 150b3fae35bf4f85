"""What the models of strengths share: missing items as a tail of each list, a prior, and a solver that warns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.rankings import Floats, Ints, read_only
from juryrank.errors import DataError, warn_not_converged
from juryrank.kernels.pairs import most_pairs
from juryrank.kernels.ragged import children, parents, sizes_to_ptr
from juryrank.methods.base import Aggregator, missing_param, weights_param
from juryrank.params import param

TAIL_LIMIT = 50_000_000  # entries of the lists with their missing items: about a gigabyte
PAIR_LIMIT = 10_000_000  # pairs of items in one query: about two gigabytes

PRIOR = 0.1  # weak enough for intervals to cover what they claim
Lists = tuple[NDArray[Any], ...]  # of slots, lists and entries the offsets; slots, ranks, weights, tails


def prior_param() -> Any:
    """The parameter ``prior``, the same wherever strengths have a normal prior."""
    return param(PRIOR, "precision of the normal prior on strengths around 0; keeps undefeated items finite", above=0)


def tol_param(default: float = 1e-9) -> Any:
    """The parameter ``tol`` of models that balance what items won and were expected to win."""
    return param(default, "stop when what an item won and was expected to win differ by this share of it", above=0)


@dataclass(kw_only=True)
class Strength(Aggregator):
    """Score = strength of the item, on a scale where differences give the chance to win."""

    weights: Mapping[str, float] | None = weights_param()
    missing: str = missing_param("ignore", "ignore", "last")

    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]]:
        steps = np.zeros(len(rankings), np.int64)
        lists = with_tail(rankings, self.list_weights(rankings), self.missing)
        details = self._strengths(rankings, lists, steps, out)
        warn_of_queries(self.name, steps, self.max_iter)
        return {"steps": steps, **details}

    @property
    @abstractmethod
    def max_iter(self) -> int:
        """Steps at most; a parameter of the method."""

    @abstractmethod
    def _strengths(self, r: Rankings, lists: Lists, steps: Ints, out: Floats) -> Mapping[str, NDArray[Any]]:
        """Write the strengths of every query and the steps they took; may report values per query."""


def logistic(lead: Any) -> Any:
    """The chance to win with odds exp(lead)."""
    return 1.0 / (1.0 + np.exp(-lead))


def warn_of_queries(name: str, steps: Ints, max_iter: int) -> None:
    """Warn of the queries that did not converge; a kernel reports them with max_iter + 1 steps."""
    if failed := int((steps > max_iter).sum()):
        warn_not_converged(name, f"{failed} of {len(steps)} queries", max_iter)


def with_tail(r: Rankings, weight: Floats, missing: str) -> Lists:
    """What kernels of strengths take: pointers, slots, ranks, weights, and how many entries at the end are unranked.

    All are read-only, as those of Rankings are: Numba compiles one version and not two.
    """
    if missing == "ignore":
        tail = np.zeros(r.n_lists, np.int64)
        return r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, *map(read_only, (weight, tail))
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
    made = (entry_ptr, slot[order].astype(np.int32), rank[order], weight, total - r.list_size)
    return r.slot_ptr, r.list_ptr, *map(read_only, made)


def pairs_at_most(name: str, r: Rankings, lists: Lists) -> Ints:
    """How many pairs of items each query can have; a DataError where keeping them takes too much memory."""
    most = np.empty(len(r), np.int64)
    most_pairs(*lists[:3], most)
    if (largest := int(most.max(initial=0))) > PAIR_LIMIT:
        raise DataError(
            f"{name} keeps the pairs of items that lists compare, up to {PAIR_LIMIT} in a query; query "
            f"{r.queries[int(most.argmax())]!r} may have {largest}; use plackett-luce or borda, or cut the lists"
        )
    return most
