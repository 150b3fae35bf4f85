"""Coset-permutation distances, stage by stage: the cost of each item at the next place.

The distance from a list to all orders that begin with the chosen items is averaged over those orders. At stage k of n,
with v the item's place in the list, it differs between items left by: Kendall, the items left that the list puts above
(ties half); Spearman, v(n - k + 1); footrule, |k - v| less the mean of |p - v| over the places p = k+1 … n.
"""

import cython
import numpy as np
from cython.cimports.libc.math import fabs, floor

from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.elements import Float, Int
    from juryrank.kernels.pairwise import TIE, SlotIndex, total_weight
    from juryrank.kernels.ragged import longest, stable_order

SPEARMAN = cython.declare(cython.longlong, 1)
FOOTRULE = cython.declare(cython.longlong, 2)
DISTANCES = {"kendall": 0, "spearman": SPEARMAN, "footrule": FOOTRULE}


def distance_to_later(v, k, n):
    """The mean of |p - v| over the places p = k+1 … n; 0 if there are none."""
    size = n - k
    if size <= 0:
        return 0.0
    below = min(max(cython.cast(cython.longlong, floor(v)) - k, 0), size)  # places k+1 … k+below are at or above v
    above = size - below
    total = below * v - below * (2 * k + 1 + below) / 2.0
    total += above * (k + below + 1 + n) / 2.0 - above * v
    return total / size


def lowest_cost(n, cost, left, tie):
    """The first of the items left whose cost is lowest; costs within ``tie`` are equal."""
    best = -1
    for i in range(n):
        if left[i] and (best < 0 or cost[i] < cost[best] - tie):
            best = i
    return best


@over_queries
def kendall_stages(first: cython.longlong, end: cython.longlong, lists, out: cython.double[::1]):
    """The number of items below each slot if each stage selects the item with the lowest Kendall distance."""
    index: SlotIndex = SlotIndex(first, end, lists)
    row: cython.double[::1] = np.empty(index.most)
    cost: cython.double[::1] = np.empty(index.most)
    left: cython.uchar[::1] = np.empty(index.most, np.uint8)
    with cython.nogil:
        for q in range(first, end):
            index.fill(q)
            n, tie = index.n, TIE * total_weight(index) * index.n
            for i in range(n):
                index.margin_row(i, True, row)
                total: cython.double = 0.0
                for j in range(n):
                    total += row[j]
                cost[i], left[i] = -total, 1
            for stage in range(n):
                i = lowest_cost(n, cost, left, tie)
                left[i] = 0
                out[index.lo + i] = n - 1 - stage
                index.margin_row(i, True, row)
                for j in range(n):
                    cost[j] -= row[j]


@over_queries
def footrule_stages(
    first: cython.longlong, end: cython.longlong, lists, list_absent: Float[::1], out: cython.double[::1]
):
    """The number of items below each slot if each stage selects the item with the lowest footrule distance.

    The ranks of ``lists`` are places.
    """
    index: SlotIndex = SlotIndex(first, end, lists)
    absent: cython.double[::1] = np.empty(longest(first, end, index.list_ptr))
    cost: cython.double[::1] = np.empty(index.most)
    left: cython.uchar[::1] = np.empty(index.most, np.uint8)
    with cython.nogil:
        for q in range(first, end):
            index.fill(q)
            n, begin, tie = index.n, index.begin, TIE * index.n * total_weight(index)
            for i in range(n):
                left[i] = 1
            for k in range(1, n + 1):
                base: cython.double = 0.0
                for m in range(begin, index.end):
                    v = list_absent[m]
                    absent[m - begin] = index.list_weight[m] * (fabs(k - v) - distance_to_later(v, k, n))
                    base += absent[m - begin]
                for i in range(n):
                    cost[i] = base
                    for t in range(index.ptr[i], index.ptr[i + 1] if left[i] else index.ptr[i]):
                        m, v = index.lists[t], index.entry_rank[index.entries[t]]
                        own = index.list_weight[m] * (fabs(k - v) - distance_to_later(v, k, n))
                        cost[i] += own - absent[m - begin]
                i = lowest_cost(n, cost, left, tie)
                left[i] = 0
                out[index.lo + i] = n - k


@over_queries
def order_by_costs(
    first: cython.longlong, end: cython.longlong, slot_ptr: Int[::1], cost: Float[::1], weight: Float[::1],
    out: cython.double[::1],
):  # fmt: skip
    """The number of items below each slot if each stage selects the item with the lowest of fixed costs.

    ``weight`` is that of all lists of each query; costs that differ by residues of their sums are equal.
    """
    most = longest(first, end, slot_ptr)
    orders: cython.longlong[:, ::1] = np.empty((2, most), np.int64)
    with cython.nogil:
        for q in range(first, end):
            lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
            order, tie = orders[0, :n], TIE * n * weight[q]
            for i in range(n):
                order[i] = i
            stable_order(cost[lo : lo + n], order, orders[1])
            for stage in range(1, n):  # equal costs keep the order of the slots
                at, item = stage, order[stage]
                while at > 0 and item < order[at - 1] and cost[lo + order[at - 1]] >= cost[lo + item] - tie:
                    order[at] = order[at - 1]
                    at -= 1
                order[at] = item
            for stage in range(n):
                out[lo + order[stage]] = n - 1 - stage


def stage_costs(
    kind: cython.longlong, place: Float[:, ::1], left: Int[::1], k: cython.longlong, out: cython.double[:, ::1]
):
    """out[x, m]: the cost of each item left at stage k in list m; ``place`` is [n_lists, n_items], ``left`` items."""
    n, n_left = place.shape[1], left.shape[0]
    with cython.nogil:
        for m in range(place.shape[0]):
            for x in range(n_left):
                v = place[m, left[x]]
                if kind == SPEARMAN:
                    out[x, m] = v * (n - k + 1)
                elif kind == FOOTRULE:
                    out[x, m] = fabs(k - v) - distance_to_later(v, k, n)
                else:
                    halves: cython.longlong = -1
                    for y in range(n_left):
                        w = place[m, left[y]]
                        halves += w < v
                        halves += w <= v
                    out[x, m] = 0.5 * halves
