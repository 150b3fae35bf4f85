"""What the Markov chain methods share: parameters, the transition matrix in factors, its stationary distribution."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.errors import warn_not_converged
from juryrank.kernels.chains import stationary
from juryrank.methods.base import Aggregator, missing_param, weights_param
from juryrank.methods.lists import sums_at
from juryrank.params import param


@dataclass(kw_only=True)
class MarkovChain(Aggregator):
    """Score = stationary probability of a random walk that moves up the lists."""

    weights: Mapping[str, float] | None = weights_param()
    missing: str = missing_param("last", "ignore", "last")
    teleport: float = param(0.05, "probability of a jump to a random item of the query", at_least=0, at_most=1)
    tol: float = param(1e-10, "stop when a step moves less probability than this", above=0)
    max_iter: int = param(2000, "maximum number of steps", at_least=1)

    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]]:
        steps = np.zeros(len(rankings), np.int64)
        self._walk(rankings, steps, out)
        if failed := int((steps > self.max_iter).sum()):
            what, advice = f"{failed} of {len(steps)} queries", "raise max_iter, tol or teleport"
            warn_not_converged(self.name, what, self.max_iter, advice)
        return {"steps": steps}

    @abstractmethod
    def _walk(self, rankings: Rankings, steps: NDArray[Any], out: Floats) -> None:
        """Write the stationary distribution of every query and the number of steps."""


class ListChain(MarkovChain):
    """A chain whose transitions are sums over lists; see ``kernels/chains.py`` for the shares."""

    strict: ClassVar[bool] = False  # True if the walk stays unless the chosen item is ranked above

    def _walk(self, rankings: Rankings, steps: NDArray[Any], out: Floats) -> None:
        r = rankings
        moves = self.moves(r, self.list_weights(r))
        out[:] = np.repeat(1.0 / np.maximum(r.query_size, 1), r.query_size)
        walk = (self.strict, self.teleport, self.tol, self.max_iter)
        stationary(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, *moves, *walk, steps, out)

    def moves(self, rankings: Rankings, weight: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """The transition matrix: shares of slots, entries and unranked items, and the probability to stay."""
        last = self.missing == "last"
        slot_share, entry_share, tail = self._shares(rankings, weight, last)
        stay = np.zeros(rankings.n_slots)
        if self.strict:
            stay = 1.0 - self._leave_probability(rankings, slot_share, entry_share, tail, last)
        return slot_share, entry_share, tail, stay

    @abstractmethod
    def _shares(self, rankings: Rankings, weight: Floats, last: bool) -> tuple[Floats, Floats, Floats]:
        """Shares of slots, of entries, and of the unranked items of each list (0 unless they count as last)."""

    def _leave_probability(
        self, r: Rankings, slot_share: Floats, entry_share: Floats, tail: Floats, last: bool
    ) -> Floats:
        """The probability to leave each slot if every move goes to an item ranked strictly above."""
        above = entry_share * entries_above(r)
        moves = sums_at(r.entry_slot, above, r.n_slots)
        if last:
            per_query = sums_at(r.list_query, tail * r.list_size, len(r))
            listed = sums_at(r.entry_slot, np.repeat(tail * r.list_size, r.list_size), r.n_slots)
            moves += np.repeat(per_query, r.query_size) - listed
        leave: Floats = np.clip(moves * slot_share, 0.0, 1.0)
        # A slot that no list ranks would keep its probability for ever: it is spread over all slots instead.
        leave[slot_share == 0] = 1.0
        return leave


def entries_above(r: Rankings) -> Floats:
    """The number of entries of the same list strictly above each entry."""
    at = np.arange(r.n_entries) - np.repeat(r.entry_ptr[:-1], r.list_size)
    new = np.ones(r.n_entries, bool)
    new[1:] = (r.entry_rank[1:] != r.entry_rank[:-1]) | (at[1:] == 0)
    start: Floats = np.maximum.accumulate(np.where(new, np.arange(r.n_entries), 0)) - np.repeat(
        r.entry_ptr[:-1], r.list_size
    ).astype(np.float64)
    return start


def count_at_or_above(r: Rankings) -> Floats:
    """The number of entries of the same list tied with each entry or above it, itself included."""
    return 2 * r.entry_place - 1 - entries_above(r)


def inverse(values: Floats) -> Floats:
    """1 / values, and 0 for values of 0."""
    return np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0)
