"""Scores from places and ranks. Entries of a list are in the order of their ranks."""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries

# Values held at once when lists are spread over the items of a query: 32 MB.
TABLE_SIZE = 4_000_000


@over_queries
def places(first, last, list_ptr, entry_ptr, entry_rank, out):
    """The place of each entry in its list, 1 is best; tied entries share the mean of their places."""
    for m in range(list_ptr[first], list_ptr[last]):
        place, before, tied = 0.0, 0.0, False  # ranks are above 0
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            place += 1.0
            out[e] = place
            tied |= entry_rank[e] == before
            before = entry_rank[e]
        if tied:
            share_places(entry_rank[entry_ptr[m] : entry_ptr[m + 1]], out[entry_ptr[m] : entry_ptr[m + 1]])


@kernel
def share_places(rank, out):
    """The places of one list with ties."""
    start = 0
    while start < len(rank):
        end = start + 1
        while end < len(rank) and rank[end] == rank[start]:
            end += 1
        out[start:end] = 0.5 * (start + 1 + end)
        start = end


@over_queries
def add_points(first, last, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_points, list_absent, list_weight, out):
    """Weighted sum of the points of each slot; a list gives ``list_absent`` points to the slots it does not rank."""
    for q in range(first, last):
        base = 0.0
        for m in range(list_ptr[q], list_ptr[q + 1]):
            base += list_weight[m] * list_absent[m]
        for s in range(slot_ptr[q], slot_ptr[q + 1]):
            out[s] = base
        for m in range(list_ptr[q], list_ptr[q + 1]):
            for e in range(entry_ptr[m], entry_ptr[m + 1]):
                out[entry_slot[e]] += list_weight[m] * (entry_points[e] - list_absent[m])


@over_queries
def add_entries(first, last, list_ptr, entry_ptr, entry_slot, entry_points, out):
    """The sum of the points of each slot, added to ``out``."""
    for e in range(entry_ptr[list_ptr[first]], entry_ptr[list_ptr[last]]):
        out[entry_slot[e]] += entry_points[e]


@over_queries
def add_reciprocals(first, last, list_ptr, entry_ptr, entry_slot, entry_rank, k, out):
    """``add_entries`` of 1 / (k + rank), without an array of reciprocals: this is limited by memory bandwidth."""
    for e in range(entry_ptr[list_ptr[first]], entry_ptr[list_ptr[last]]):
        out[entry_slot[e]] += 1.0 / (k + entry_rank[e])


@kernel
def weighted_median(values, weights):
    """The value with half of the weight on either side; the mean of two values if the weight divides evenly."""
    order = np.argsort(values, kind="mergesort")
    half = 0.5 * weights.sum()
    passed = 0.0
    for t in range(len(order)):
        passed += weights[order[t]]
        if abs(passed - half) <= 1e-12 * half and t + 1 < len(order):
            return 0.5 * (values[order[t]] + values[order[t + 1]])
        if passed > half:
            return values[order[t]]
    return values[order[-1]]


@over_queries
def medians(first, last, slot_ptr, list_ptr, entry_ptr, entry_slot, values, absent, weight, out):
    """Weighted median of the values of each slot; a list gives ``absent`` (NaN: nothing) to the items it leaves out.

    A slot that no list speaks of gets NaN.
    """
    for q in range(first, last):
        n_lists = list_ptr[q + 1] - list_ptr[q]
        width = max(1, TABLE_SIZE // max(n_lists, 1))
        for lo in range(slot_ptr[q], slot_ptr[q + 1], width):
            hi = min(lo + width, slot_ptr[q + 1])
            table = np.empty((hi - lo, n_lists))
            for m in range(n_lists):
                table[:, m] = absent[list_ptr[q] + m]
                for e in range(entry_ptr[list_ptr[q] + m], entry_ptr[list_ptr[q] + m + 1]):
                    if lo <= entry_slot[e] < hi:
                        table[entry_slot[e] - lo, m] = values[e]
            for i in range(hi - lo):
                said = ~np.isnan(table[i])
                if said.any():
                    out[lo + i] = weighted_median(table[i][said], weight[list_ptr[q] : list_ptr[q + 1]][said])
                else:
                    out[lo + i] = np.nan


@over_queries
def extremes(first, last, slot_ptr, list_ptr, entry_ptr, entry_slot, values, absent, sign, out):
    """The highest (``sign`` 1) or lowest (-1) value of each slot; ``absent`` as in ``medians``."""
    for q in range(first, last):
        lo, hi = slot_ptr[q], slot_ptr[q + 1]
        out[lo:hi] = -np.inf
        ranked_in = np.full(hi - lo, -1)
        for m in range(list_ptr[q], list_ptr[q + 1]):
            for e in range(entry_ptr[m], entry_ptr[m + 1]):
                out[entry_slot[e]] = max(out[entry_slot[e]], sign * values[e])
                ranked_in[entry_slot[e] - lo] = m
            if not np.isnan(absent[m]):
                for s in range(lo, hi):
                    if ranked_in[s - lo] != m:
                        out[s] = max(out[s], sign * absent[m])
        for s in range(lo, hi):
            out[s] *= sign
