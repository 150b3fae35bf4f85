"""Coset-permutation distances, stage by stage: the cost of each item at the next place.

The distance from a list to all orders that begin with the chosen items is averaged over those orders. At stage k of n,
with v the item's place in the list, it differs between items left by: Kendall, the items left that the list puts above
(ties half); Spearman, v(n - k + 1); footrule, |k - v| less the mean of |p - v| over the places p = k+1 … n.
"""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.pairwise import TIE, index_of_slots, margin_row, residue

KENDALL, SPEARMAN, FOOTRULE = 0, 1, 2


@kernel
def distance_to_later(v, k, n):
    """The mean of |p - v| over the places p = k+1 … n; 0 if there are none."""
    size = n - k
    if size <= 0:
        return 0.0
    below = min(max(int(np.floor(v)) - k, 0), size)  # places k+1 … k+below are at or above v
    above = size - below
    total = below * v - below * (2 * k + 1 + below) / 2.0
    total += above * (k + below + 1 + n) / 2.0 - above * v
    return total / size


@kernel
def lowest_cost(cost, left, tie):
    """The first of the items left whose cost is lowest; costs within ``tie`` are equal."""
    best = -1
    for i in range(len(cost)):
        if left[i] and (best < 0 or cost[i] < cost[best] - tie):
            best = i
    return best


@over_queries
def kendall_stages(first, end, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, out):
    """The number of items below each slot if each stage selects the item with the lowest Kendall distance."""
    for q in range(first, end):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        index = index_of_slots(q, slot_ptr, list_ptr, entry_ptr, entry_slot, list_weight)
        whole = list_weight[list_ptr[q] : list_ptr[q + 1]].sum()
        rest = residue(list_ptr[q + 1] - list_ptr[q])
        row, cost, left = np.empty(n), np.empty(n), np.ones(n, np.bool_)
        for i in range(n):
            margin_row(i, lo, index, entry_ptr, entry_slot, entry_rank, list_weight, rest, True, row)
            cost[i] = -row.sum()
        for stage in range(n):
            i = lowest_cost(cost, left, TIE * whole * n)
            left[i] = False
            out[lo + i] = n - 1 - stage
            margin_row(i, lo, index, entry_ptr, entry_slot, entry_rank, list_weight, rest, True, row)
            cost -= row


@over_queries
def footrule_stages(
    first, end, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_place, list_absent, list_weight, out
):  # fmt: skip
    """The number of items below each slot if each stage selects the item with the lowest footrule distance."""
    for q in range(first, end):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        ptr, lists, entries, _ = index_of_slots(q, slot_ptr, list_ptr, entry_ptr, entry_slot, list_weight)
        tie = TIE * n * list_weight[list_ptr[q] : list_ptr[q + 1]].sum()
        absent, cost, left = np.empty(list_ptr[q + 1] - list_ptr[q]), np.empty(n), np.ones(n, np.bool_)
        for k in range(1, n + 1):
            for m in range(len(absent)):
                v = list_absent[list_ptr[q] + m]
                absent[m] = list_weight[list_ptr[q] + m] * (abs(k - v) - distance_to_later(v, k, n))
            base = absent.sum()
            for i in range(n):
                cost[i] = base
                for t in range(ptr[i], ptr[i + 1] if left[i] else ptr[i]):
                    v = entry_place[entries[t]]
                    own = list_weight[lists[t]] * (abs(k - v) - distance_to_later(v, k, n))
                    cost[i] += own - absent[lists[t] - list_ptr[q]]
            i = lowest_cost(cost, left, tie)
            left[i] = False
            out[lo + i] = n - k


@over_queries
def order_by_costs(first, end, slot_ptr, cost, tie, out):
    """The number of items below each slot if each stage selects the item with the lowest of fixed costs."""
    for q in range(first, end):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        order = np.argsort(cost[lo : lo + n], kind="mergesort")
        for stage in range(1, n):  # equal costs differ by residues of sums; they keep the order of the slots
            at = stage
            while at > 0 and order[at] < order[at - 1] and cost[lo + order[at - 1]] >= cost[lo + order[at]] - tie[q]:
                order[at], order[at - 1] = order[at - 1], order[at]
                at -= 1
        for stage in range(n):
            out[lo + order[stage]] = n - 1 - stage


@kernel
def stage_costs(kind, place, left, k, out):
    """out[x, m]: the cost of each item left at stage k in list m; ``place`` is [n_lists, n_items], ``left`` items."""
    n = place.shape[1]
    for m in range(len(place)):
        for x in range(len(left)):
            v = place[m, left[x]]
            if kind == SPEARMAN:
                out[x, m] = v * (n - k + 1)
            elif kind == FOOTRULE:
                out[x, m] = abs(k - v) - distance_to_later(v, k, n)
            else:
                above = -0.5
                for y in range(len(left)):
                    w = place[m, left[y]]
                    above += 1.0 if w < v else 0.5 if w == v else 0.0
                out[x, m] = above
