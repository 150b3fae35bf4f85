"""Plackett–Luce over lists with ties: from the top, each item is chosen among those that are left.

A tied group of g items counts as g choices from the items left, one for each item; a group at the end of the list
counts as g - 1, because the last choice is forced: the last item of a strict list makes no choice, and a tied pair is
half a win for each item. The ``tail`` of a list (items that the expert did not rank but that count as last) is never
chosen. Everything is computed in one pass up each list, which sums the worth of the items left, and one pass down.
"""

import numpy as np

from juryrank.kernels.jit import kernel


@kernel
def pass_over_lists(lists, x, slope, diagonal, rate, left):
    """Add slope and diagonal of the curvature at x. ``rate``, ``left``: choices per worth, and worth left, by entry."""
    lo, entry_ptr, entry_slot, entry_rank = lists.lo, lists.entry_ptr, lists.entry_slot, lists.entry_rank
    n = len(x) - 1
    worth = np.exp(x[:n])
    base = entry_ptr[lists.begin]
    for m in range(lists.begin, lists.end):
        ranked = entry_ptr[m + 1] - lists.tail[m]
        total = 0.0
        for e in range(ranked, entry_ptr[m + 1]):
            total += worth[entry_slot[e] - lo]
        stop = ranked
        while stop > entry_ptr[m]:
            start = stop
            while start > entry_ptr[m] and entry_rank[start - 1] == entry_rank[stop - 1]:
                start -= 1
                total += worth[entry_slot[start] - lo]
            size = stop - start
            forced = 1 if stop == entry_ptr[m + 1] else 0
            choices = lists.list_weight[m] * (size - forced)
            for e in range(start, stop):
                rate[e - base] = choices / total
                left[e - base] = total
                slope[entry_slot[e] - lo] += choices / size
            stop = start
        walk_down(m, lo, base, entry_ptr, entry_slot, entry_rank, ranked, worth, rate, left, slope, diagonal)


@kernel
def walk_down(m, lo, base, entry_ptr, entry_slot, entry_rank, ranked, worth, rate, left, slope, diagonal):
    """Subtract from the slope of each item of a list its expected number of choices."""
    expected, squared = 0.0, 0.0
    for e in range(entry_ptr[m], entry_ptr[m + 1]):
        if e < ranked and (e == entry_ptr[m] or entry_rank[e] != entry_rank[e - 1]):
            expected += rate[e - base]
            squared += rate[e - base] / left[e - base]
        i = entry_slot[e] - lo
        slope[i] -= worth[i] * expected
        diagonal[i] += worth[i] * (expected - worth[i] * squared)


@kernel
def curve_over_lists(lists, x, rate, left, v, out):
    """out += curvature times v, with ``rate`` and ``left`` from the pass at x."""
    lo, entry_ptr, entry_slot, entry_rank = lists.lo, lists.entry_ptr, lists.entry_slot, lists.entry_rank
    n = len(x) - 1
    worth = np.exp(x[:n])
    moved = worth * v[:n]
    base = entry_ptr[lists.begin]
    mean = np.empty(entry_ptr[lists.end] - base)
    for m in range(lists.begin, lists.end):
        ranked = entry_ptr[m + 1] - lists.tail[m]
        total = 0.0
        for e in range(entry_ptr[m + 1] - 1, entry_ptr[m] - 1, -1):
            total += moved[entry_slot[e] - lo]
            mean[e - base] = total
        expected, drawn = 0.0, 0.0
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            if e < ranked and (e == entry_ptr[m] or entry_rank[e] != entry_rank[e - 1]):
                expected += rate[e - base]
                drawn += rate[e - base] * mean[e - base] / left[e - base]
            i = entry_slot[e] - lo
            out[i] += moved[i] * expected - worth[i] * drawn
