"""The pairs of items that lists compare, each once, with the weight of the lists for either side and for a tie.

Lists may end in a ``tail`` of items that the expert did not rank but that count as last; two items of one tail are not
compared. Pairs are ``first < second``, numbered from 0 inside a query; memory is that of the distinct pairs.
"""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.lists import lists_of_query
from juryrank.kernels.pairwise import index_of_slots


@over_queries
def most_pairs(first, last, lists, out):
    """The maximum number of distinct pairs of each query: those of its lists, or all of its items."""
    for q in range(first, last):
        n = lists.slot_ptr[q + 1] - lists.slot_ptr[q]
        compared = 0
        for m in range(lists.list_ptr[q], lists.list_ptr[q + 1]):
            size = lists.entry_ptr[m + 1] - lists.entry_ptr[m]
            compared += size * (size - 1) // 2
        out[q] = min(compared, n * (n - 1) // 2)


@kernel
def count_comparisons(query, n, most):
    """``count_pairs`` if every list is a comparison of two items: a counting sort by the first item, then by row."""
    begin, end, lo = query.begin, query.end, query.lo
    entry_ptr, entry_slot, entry_rank = query.entry_ptr, query.entry_slot, query.entry_rank
    ptr = np.zeros(n + 1, np.int64)
    for m in range(begin, end):
        e = entry_ptr[m]
        ptr[min(entry_slot[e], entry_slot[e + 1]) - lo + 1] += 1
    for i in range(n):
        ptr[i + 1] += ptr[i]
    at = ptr[:-1].copy()
    said, weight = np.empty(end - begin, np.int64), np.empty(end - begin)
    for m in range(begin, end):
        e = entry_ptr[m]
        i, j = entry_slot[e] - lo, entry_slot[e + 1] - lo
        outcome = 2 if entry_rank[e] == entry_rank[e + 1] else 0 if i < j else 1
        said[at[min(i, j)]], weight[at[min(i, j)]] = 3 * np.int64(max(i, j)) + outcome, query.list_weight[m]
        at[min(i, j)] += 1
    left, right, counts = np.empty(most, np.int32), np.empty(most, np.int32), np.zeros(3 * most)
    row, number = np.full(n, -1), np.empty(n, np.int64)
    found = 0
    for i in range(n):
        for t in range(ptr[i], ptr[i + 1]):
            j = said[t] // 3
            if row[j] != i:
                row[j], number[j] = i, found
                left[found], right[found] = i, j
                found += 1
            counts[3 * number[j] + said[t] - 3 * j] += weight[t]
    won, lost, tied = np.empty(found), np.empty(found), np.empty(found)
    for p in range(found):
        won[p], lost[p], tied[p] = counts[3 * p], counts[3 * p + 1], counts[3 * p + 2]
    return left[:found], right[:found], won, lost, tied


@kernel
def count_pairs(q, most, all_lists):
    """The pairs of one query: first, second, and the weights of the lists in which the first won, lost and tied.

    Pairs are ordered by their first item.
    """
    query = lists_of_query(q, all_lists)
    begin, end, lo, n = query.begin, query.end, query.lo, all_lists.slot_ptr[q + 1] - query.lo
    entry_ptr, entry_slot, entry_rank = query.entry_ptr, query.entry_slot, query.entry_rank
    list_weight, tail = query.list_weight, query.tail
    if most > 0 and entry_ptr[end] - entry_ptr[begin] == 2 * (end - begin):
        pairs_only = True
        for m in range(begin, end):
            pairs_only &= entry_ptr[m + 1] - entry_ptr[m] == 2 and tail[m] == 0
        if pairs_only:
            return count_comparisons(query, n, most)
    ptr, lists, entries, _ = index_of_slots(
        q, all_lists.slot_ptr, all_lists.list_ptr, entry_ptr, entry_slot, list_weight
    )
    left, right = np.empty(most, np.int32), np.empty(most, np.int32)
    won, lost, tied = np.zeros(most), np.zeros(most), np.zeros(most)
    row, number = np.full(n, -1), np.empty(n, np.int64)
    found = 0
    for i in range(n):
        for t in range(ptr[i], ptr[i + 1]):
            m, at = lists[t], entries[t]
            ranked = entry_ptr[m + 1] - tail[m]
            for e in range(entry_ptr[m], entry_ptr[m + 1]):
                j = entry_slot[e] - lo
                if j <= i or (e >= ranked and at >= ranked):
                    continue
                if row[j] != i:
                    row[j], number[j] = i, found
                    left[found], right[found] = i, j
                    found += 1
                if entry_rank[at] < entry_rank[e]:
                    won[number[j]] += list_weight[m]
                elif entry_rank[at] > entry_rank[e]:
                    lost[number[j]] += list_weight[m]
                else:
                    tied[number[j]] += list_weight[m]
    return left[:found], right[:found], won[:found], lost[:found], tied[:found]


@kernel
def mean_leads(q, pairs, all_lists, entry_value, out):
    """out = for each pair of ``count_pairs``, the value of the first minus that of the second, averaged over lists."""
    left, right, won, lost, tied = pairs
    slot_ptr, list_ptr, entry_ptr, entry_slot = (
        all_lists.slot_ptr, all_lists.list_ptr, all_lists.entry_ptr, all_lists.entry_slot
    )  # fmt: skip
    list_weight, tail = all_lists.list_weight, all_lists.tail
    lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
    ptr, lists, entries, _ = index_of_slots(q, slot_ptr, list_ptr, entry_ptr, entry_slot, list_weight)
    number = np.empty(n, np.int64)
    p = 0
    for i in range(n):
        stop = p
        while stop < len(left) and left[stop] == i:
            number[right[stop]] = stop
            out[stop] = 0.0
            stop += 1
        for t in range(ptr[i], ptr[i + 1]):
            m, at = lists[t], entries[t]
            ranked = entry_ptr[m + 1] - tail[m]
            for e in range(entry_ptr[m], entry_ptr[m + 1]):
                j = entry_slot[e] - lo
                if j > i and (e < ranked or at < ranked):
                    out[number[j]] += list_weight[m] * (entry_value[at] - entry_value[e])
        while p < stop:
            out[p] /= won[p] + lost[p] + tied[p]
            p += 1
