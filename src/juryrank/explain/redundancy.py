"""How much experts say the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.rankings import Floats, freeze
from juryrank.kernels.gains import pair_counts
from juryrank.kernels.ragged import parents, sizes_to_ptr


@dataclass(frozen=True, eq=False)
class Redundancy:
    """Of the pairs of items that two experts both put in an order, the share in the same order; NaN without any."""

    experts: tuple[str, ...]
    share: Floats  # [n_experts, n_experts]

    def __post_init__(self) -> None:
        freeze(self)

    def nearest(self, expert: int) -> tuple[str, float] | None:
        """Who agrees most with an expert, and how much."""
        row = self.share[expert].copy()
        row[expert] = np.nan
        if np.isnan(row).all():
            return None
        best = int(np.nanargmax(row))
        return self.experts[best], float(row[best])


def redundancy(rankings: Rankings) -> Redundancy:
    """The agreement of every two experts over all queries (WWW 2007, Table 6)."""
    r = rankings
    n = len(r.experts)
    owner = np.repeat(r.list_expert, r.list_size)
    ranks = [_by_slot(r, owner == k) for k in range(n)]
    share = np.full((n, n), np.nan)
    for a in range(n):
        for b in range(a, n):
            share[a, b] = share[b, a] = _share(r, ranks[a], ranks[b])
    return Redundancy(r.experts, share)


def _by_slot(r: Rankings, mine: np.ndarray) -> Floats:
    out = np.full(r.n_slots, np.nan)
    out[r.entry_slot[mine]] = r.entry_rank[mine]
    return out


def _share(r: Rankings, one: Floats, other: Floats) -> float:
    both = np.flatnonzero(~np.isnan(one + other))
    query = parents(r.slot_ptr)[both]
    ptr = sizes_to_ptr(np.bincount(query, minlength=len(r)))
    x, y = one[both], other[both]
    counts = np.empty((len(r), 4))
    pair_counts(ptr, x, y, counts)
    surplus, pairs, tied_x, tied_y = counts.sum(axis=0)
    _, alike = np.unique(np.stack([query, x, y]), axis=1, return_counts=True)
    ordered = pairs - tied_x - tied_y + (alike * (alike - 1.0) / 2).sum()
    return float((surplus + ordered) / 2 / ordered) if ordered else np.nan
