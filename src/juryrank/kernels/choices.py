"""Plackett–Luce over lists with ties: from the top, each item is chosen among those that are left.

A tied group of g items counts as g choices from the items left, each item credited with one; a group at the very bottom
counts as g - 1, because the last choice is forced: a strict list ends in no choice, and a tied pair is half a win each.
The ``tail`` of a list (items that the expert did not rank but that count as last) is left over and never chosen.
Everything is one walk up a list, where the worth of what is left grows, and one walk down.
"""

import numpy as np

from juryrank.kernels.jit import kernel


@kernel
def pass_over_lists(lists, x, slope, diagonal, rate, left):
    """Add slope and diagonal of the curvature at x. ``rate``, ``left``: choices per worth, and worth left, by entry."""
    begin, end, lo, entry_ptr, entry_slot, entry_rank, list_weight, tail = lists
    n = len(x) - 1
    worth = np.exp(x[:n])
    base = entry_ptr[begin]
    for m in range(begin, end):
        ranked = entry_ptr[m + 1] - tail[m]
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
            choices = list_weight[m] * (size - forced)
            for e in range(start, stop):
                rate[e - base] = choices / total
                left[e - base] = total
                slope[entry_slot[e] - lo] += choices / size
            stop = start
        walk_down(m, lo, base, entry_ptr, entry_slot, entry_rank, ranked, worth, rate, left, slope, diagonal)


@kernel
def walk_down(m, lo, base, entry_ptr, entry_slot, entry_rank, ranked, worth, rate, left, slope, diagonal):
    """Take from each item of a list what it was expected to get from the choices it took part in."""
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
    begin, end, lo, entry_ptr, entry_slot, entry_rank, _, tail = lists
    n = len(x) - 1
    worth = np.exp(x[:n])
    moved = worth * v[:n]
    base = entry_ptr[begin]
    mean = np.empty(entry_ptr[end] - base)
    for m in range(begin, end):
        ranked = entry_ptr[m + 1] - tail[m]
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
