"""Redundancy: how much experts agree with each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, Ints, freeze
from juryrank.kernels.gains import pair_counts
from juryrank.kernels.ragged import children, parents, sizes_to_ptr

PAIRS_AT_ONCE = 1 << 22  # item pairs held in memory at once: 32 MB per array

Counts = tuple[Floats, Floats]  # by two experts: weight of pairs in the same minus opposite order; total weight


@dataclass(frozen=True, eq=False)
class Redundancy:
    """Of the item pairs that two experts both order, the share in the same order; NaN if there are none."""

    experts: tuple[str, ...]
    share: Floats  # [n_experts, n_experts]

    def __post_init__(self) -> None:
        freeze(self)

    def nearest(self, expert: int) -> tuple[str, float] | None:
        """The expert that agrees most with this one, and the share of pairs."""
        row = self.share[expert].copy()
        row[expert] = np.nan
        if np.isnan(row).all():
            return None
        best = int(np.nanargmax(row))
        return self.experts[best], float(row[best])


def redundancy(rankings: Rankings) -> Redundancy:
    """The agreement of all pairs of experts over all queries (WWW 2007, Table 6).

    Every list of one expert is compared with every list of the other in the same query. Each item pair that both lists
    order counts with the product of the weights of the two lists. An expert agrees with itself.
    """
    r = rankings if (rankings.list_weight > 0).all() else rankings.keep_lists(rankings.list_weight > 0)
    short = _has_many_lists(r)
    surplus, ordered = (
        by_lists + by_pairs
        for by_lists, by_pairs in zip(
            _count_by_lists(r.take(np.flatnonzero(~short)) if short.any() else r),
            _count_by_pairs(r.take(np.flatnonzero(short))),
            strict=True,
        )
    )
    share = np.divide(surplus + ordered, 2 * ordered, out=np.full(ordered.shape, np.nan), where=ordered > 0)
    return Redundancy(r.experts, share)


def _has_many_lists(r: Rankings) -> np.ndarray:
    """Queries in which an expert has so many short lists that counting by item pairs is cheaper than by list pairs."""
    n = max(len(r.experts), 1)
    _, owner, several = np.unique(r.list_query * n + r.list_expert, return_index=True, return_counts=True)
    most = np.zeros(len(r), np.int64)
    np.maximum.at(most, r.list_query[owner], several)
    lists = np.diff(r.list_ptr)
    entries = np.diff(r.entry_ptr[r.list_ptr])
    many: np.ndarray = (most > 1) & (most * lists > entries)
    return many


def _count_by_lists(r: Rankings) -> Counts:
    """Compare lists with lists, one list of each expert and query at a time."""
    n = len(r.experts)
    surplus, ordered = np.zeros((2, n, n))
    lists = [[_by_slot(r, some) for some in _rounds(r, k)] for k in range(n)]
    for a in range(n):
        for b in range(a, n):
            pairs = ((one, one) for one in lists[a]) if a == b else ((x, y) for x in lists[a] for y in lists[b])
            for (one, one_weight), (other, other_weight) in pairs:
                found = _compare_lists(r, one, other, one_weight * other_weight)
                surplus[a, b], ordered[a, b] = surplus[a, b] + found[0], ordered[a, b] + found[1]
            surplus[b, a], ordered[b, a] = surplus[a, b], ordered[a, b]
    return surplus, ordered


def _rounds(r: Rankings, expert: int) -> list[Ints]:
    """The first lists of an expert in each query, then the second ones, and so on."""
    lists = np.flatnonzero(r.list_expert == expert)
    first = np.searchsorted(r.list_query[lists], r.list_query[lists], side="left")
    turn = np.arange(len(lists)) - first
    return [lists[turn == t] for t in range(int(turn.max(initial=-1)) + 1)]


def _by_slot(r: Rankings, lists: Ints) -> tuple[Floats, Floats]:
    """Ranks by slot, NaN where there is none, and weights by query, of at most one list in each query."""
    rank, weight = np.full(r.n_slots, np.nan), np.zeros(len(r))
    entries = children(r.entry_ptr, lists)
    rank[r.entry_slot[entries]] = r.entry_rank[entries]
    weight[r.list_query[lists]] = r.list_weight[lists]
    return rank, weight


def _compare_lists(r: Rankings, one: Floats, other: Floats, weight: Floats) -> tuple[float, float]:
    both = np.flatnonzero(~np.isnan(one + other))
    query = parents(r.slot_ptr)[both]
    ptr = sizes_to_ptr(np.bincount(query, minlength=len(r)))
    x, y = one[both], other[both]
    counts = np.empty((len(r), 4))
    pair_counts(ptr, x, y, counts)
    surplus, pairs, tied_x, tied_y = counts.T
    groups, alike = np.unique(np.stack([query, x, y]), axis=1, return_counts=True)
    tied_twice = np.bincount(groups[0].astype(np.int64), alike * (alike - 1.0) / 2, minlength=len(r))
    ordered = pairs - tied_x - tied_y + tied_twice
    return float((weight * surplus).sum()), float((weight * ordered).sum())


def _count_by_pairs(r: Rankings) -> Counts:
    """Sum the weights of the lists that order each item pair; faster for many short lists."""
    n = len(r.experts)
    surplus, ordered = np.zeros((2, n, n))
    pairs = [_pairs_of(r, np.flatnonzero(r.list_expert == k)) for k in range(n)]
    for a in range(n):
        ordered[a, a] = surplus[a, a] = pairs[a][2].sum()
        for b in range(a + 1, n):
            _, mine, yours = np.intersect1d(pairs[a][0], pairs[b][0], assume_unique=True, return_indices=True)
            surplus[a, b] = surplus[b, a] = pairs[a][1][mine] @ pairs[b][1][yours]
            ordered[a, b] = ordered[b, a] = pairs[a][2][mine] @ pairs[b][2][yours]
    return surplus, ordered


def _pairs_of(r: Rankings, lists: Ints) -> tuple[Ints, Floats, Floats]:
    """Slot pairs that some of the lists order: key, weight for minus against the lower slot, total weight."""
    key, signed, total = np.empty(0, np.int64), np.empty(0), np.empty(0)
    size = r.list_size[lists]
    part = np.cumsum(size * (size - 1) // 2) // PAIRS_AT_ONCE
    for some in np.split(lists, np.flatnonzero(np.diff(part)) + 1):
        entries = children(r.entry_ptr, some)
        last = np.repeat(r.entry_ptr[some + 1], r.list_size[some])
        below = last - entries - 1
        better = np.repeat(entries, below)
        worse = better + 1 + np.arange(len(better)) - np.repeat(sizes_to_ptr(below)[:-1], below)
        weight = np.repeat(np.repeat(r.list_weight[some], r.list_size[some]), below)
        apart = r.entry_rank[better] < r.entry_rank[worse]
        weight, better, worse = weight[apart], r.entry_slot[better[apart]], r.entry_slot[worse[apart]]
        pair = np.minimum(better, worse) * np.int64(r.n_slots) + np.maximum(better, worse)
        key, at = np.unique(np.append(key, pair), return_inverse=True)
        by_sign = np.append(signed, np.where(better < worse, weight, -weight))
        signed, total = (
            np.asarray(np.bincount(at, values, minlength=len(key)), np.float64)
            for values in (by_sign, np.append(total, weight))
        )
    return key, signed, total
