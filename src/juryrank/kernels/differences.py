"""Strengths from differences: a pair counts by how far apart a list puts its items, not once."""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.lists import lists_of_query
from juryrank.kernels.pairs import count_pairs
from juryrank.kernels.pairwise import index_of_slots
from juryrank.kernels.strengths import fit_pairs


@kernel
def count_differences(q, most, all_lists, entry_value):
    """``count_pairs`` with the sum of positive differences of values for either side; equal values count nothing."""
    left, right, won, lost, tied = count_pairs(q, most, all_lists)
    won[:], lost[:], tied[:] = 0.0, 0.0, 0.0
    slot_ptr, entry_ptr, entry_slot = all_lists.slot_ptr, all_lists.entry_ptr, all_lists.entry_slot
    list_weight, tail = all_lists.list_weight, all_lists.tail
    lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
    ptr, lists, entries, _ = index_of_slots(q, slot_ptr, all_lists.list_ptr, entry_ptr, entry_slot, list_weight)
    number = np.empty(n, np.int64)
    p = 0
    for i in range(n):
        while p < len(left) and left[p] == i:
            number[right[p]] = p
            p += 1
        for t in range(ptr[i], ptr[i + 1]):
            m, at = lists[t], entries[t]
            ranked = entry_ptr[m + 1] - tail[m]
            for e in range(entry_ptr[m], entry_ptr[m + 1]):
                j = entry_slot[e] - lo
                if j > i and (e < ranked or at < ranked):
                    lead = list_weight[m] * (entry_value[at] - entry_value[e])
                    if lead > 0.0:
                        won[number[j]] += lead
                    else:
                        lost[number[j]] -= lead
    decided = won + lost > 0.0  # items that only tied are not connected
    return left[decided], right[decided], won[decided], lost[decided], tied[decided]


@over_queries
def difference_strengths(first, last, lists, most, entry_value, link, precision, tol, max_iter, steps, ties, out):
    """``pair_strengths`` with the counts of ``count_differences``."""
    for q in range(first, last):
        lo, hi = lists.slot_ptr[q], lists.slot_ptr[q + 1]
        pairs, query = count_differences(q, most[q], lists, entry_value), lists_of_query(q, lists)
        steps[q] = fit_pairs(link, pairs, query, precision, tol, max_iter, ties[q : q + 1], out[lo:hi])
