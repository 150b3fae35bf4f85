"""Pairwise margins, one row at a time.

``margin(i, j)`` is the weight of the lists that rank i above j, minus the weight of those that rank j above i. If a
missing item counts as last, every list that ranks i and not j adds to it; summed over lists this is
``listed(i) - listed(j)`` plus the contribution of the lists with both items, so partial lists need not be completed.
"""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries

ROUNDING = 2.0**-52  # of one operation, relative to its result
TIE = 1e-12  # residues of sums, relative to all weights, that count as rounding for any number of lists


@kernel
def residue(n_lists):
    """The share of the weights that rounding may leave in a margin of this many lists: less than this is a tie.

    The weights of one item's lists are added, then those of the other's, then the lists with both: at most three
    operations per list. A weight such as 0.1 is itself rounded, as is the product of the weights of list and expert.
    """
    return min(TIE, 2.0 * (n_lists + 2) * ROUNDING)


@kernel
def index_of_slots(q, slot_ptr, list_ptr, entry_ptr, entry_slot, list_weight):
    """For each slot of a query, the lists that rank it, its entries in them, and their total weight."""
    lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
    begin, end = entry_ptr[list_ptr[q]], entry_ptr[list_ptr[q + 1]]
    ptr = np.zeros(n + 1, np.int64)
    for e in range(begin, end):
        ptr[entry_slot[e] - lo + 1] += 1
    for i in range(n):
        ptr[i + 1] += ptr[i]
    fill = ptr[:-1].copy()
    lists = np.empty(end - begin, np.int64)
    entries = np.empty(end - begin, np.int64)
    listed = np.zeros(n)
    for m in range(list_ptr[q], list_ptr[q + 1]):
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            i = entry_slot[e] - lo
            lists[fill[i]] = m
            entries[fill[i]] = e
            listed[i] += list_weight[m]
            fill[i] += 1
    return ptr, lists, entries, listed


@kernel
def margin_row(i, lo, index, entry_ptr, entry_slot, entry_rank, list_weight, rest, last, row):
    """row[j] = margin(i, j), for the slots of one query numbered from 0; 0 if it is at most the residue ``rest``."""
    ptr, lists, entries, listed = index
    for j in range(len(row)):
        row[j] = listed[i] - listed[j] if last else 0.0
    for t in range(ptr[i], ptr[i + 1]):
        m, at = lists[t], entries[t]
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            if entry_rank[e] > entry_rank[at]:
                row[entry_slot[e] - lo] += list_weight[m]
            elif entry_rank[e] < entry_rank[at]:
                row[entry_slot[e] - lo] -= list_weight[m]
    for j in range(len(row)):
        if abs(row[j]) <= rest * max(listed[i], listed[j]):
            row[j] = 0.0


@kernel
def margins(q, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, last, out):
    """out[i, j] = margin(i, j) of one query; returns, by item, the rounding error that its margins may have.

    The error of a margin is at most the larger one of its two items.
    """
    index = index_of_slots(q, slot_ptr, list_ptr, entry_ptr, entry_slot, list_weight)
    rest = residue(list_ptr[q + 1] - list_ptr[q])
    for i in range(len(out)):
        margin_row(i, slot_ptr[q], index, entry_ptr, entry_slot, entry_rank, list_weight, rest, last, out[i, :])
    return rest * index[3]


@over_queries
def wins_and_losses(first, end, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, last, won, lost):
    """The number of items of its query that each slot beats, and is beaten by, in a majority of the lists."""
    for q in range(first, end):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        index = index_of_slots(q, slot_ptr, list_ptr, entry_ptr, entry_slot, list_weight)
        rest = residue(list_ptr[q + 1] - list_ptr[q])
        row = np.empty(n)
        for i in range(n):
            margin_row(i, lo, index, entry_ptr, entry_slot, entry_rank, list_weight, rest, last, row)
            for j in range(n):
                if row[j] > 0:
                    won[lo + i] += 1
                elif row[j] < 0:
                    lost[lo + i] += 1


@kernel
def count_wins(margin, out):
    """The number of items that each item beats."""
    for i in range(len(margin)):
        out[i] = 0.0
        for j in range(len(margin)):
            if margin[i, j] > 0:
                out[i] += 1


@kernel
def majority_sort(margin, order):
    """Insertion sort: an item moves up past the one before it if a majority prefers it."""
    for start in range(1, len(order)):
        item = order[start]
        at = start
        while at > 0 and margin[item, order[at - 1]] > 0:
            order[at] = order[at - 1]
            at -= 1
        order[at] = item


@kernel
def noise_of_sums(margin, noise):
    """The rounding error of a sum of margins of one item, each of them known up to ``noise``."""
    largest = 0.0
    for i in range(len(margin)):
        largest = max(largest, np.abs(margin[i, :]).sum())
    return len(margin) * (noise + ROUNDING * largest)


@kernel
def insertion_search(margin, order, noise):
    """Move single items to their best place until no move lowers the Kendall distance to the lists.

    ``margin[i, j]`` is ``-margin[j, i]``; only rows are read, because columns of a large matrix are slow to read.
    A move must gain more than the rounding error, so every move lowers the distance and none is reversed. Few passes
    are needed (5 to 22 for 1,000 items); the maximum is the number of items plus a hundred.
    """
    n = len(order)
    least = noise_of_sums(margin, noise)
    for _ in range(n + 100):
        moved = False
        for at in range(n):
            item = order[at]
            best, best_at, gain = 0.0, at, 0.0
            for to in range(at - 1, -1, -1):
                gain += margin[item, order[to]]
                if gain > best + least:
                    best, best_at = gain, to
            gain = 0.0
            for to in range(at + 1, n):
                gain -= margin[item, order[to]]
                if gain > best + least:
                    best, best_at = gain, to
            if best_at == at:
                continue
            step = 1 if best_at > at else -1
            for to in range(at, best_at, step):
                order[to] = order[to + step]
            order[best_at] = item
            moved = True
        if not moved:
            break


@over_queries
def condorcet_places(first, end, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, last, out):
    """The number of items below each slot after a sort by majority that starts from the number of wins."""
    for q in range(first, end):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        margin = np.empty((n, n))
        margins(q, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, last, margin)
        wins = np.empty(n)
        count_wins(margin, wins)
        order = np.argsort(-wins, kind="mergesort")
        majority_sort(margin, order)
        at = 0
        while at < n:
            stop = at + 1
            while stop < n and margin[order[stop - 1], order[stop]] == 0 and wins[order[stop]] == wins[order[at]]:
                stop += 1
            for t in range(at, stop):
                out[lo + order[t]] = n - 0.5 * (at + 1 + stop)
            at = stop


@over_queries
def kendall_distance(first, end, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, last, scores, out):
    """Weighted number of pairs of each query that a list orders one way and the scores the other way."""
    for q in range(first, end):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        for m in range(list_ptr[q], list_ptr[q + 1]):
            rank = np.full(n, np.inf if last else np.nan)
            for e in range(entry_ptr[m], entry_ptr[m + 1]):
                rank[entry_slot[e] - lo] = entry_rank[e]
            for i in range(n):
                for j in range(n):
                    if rank[i] < rank[j] and scores[lo + i] < scores[lo + j]:
                        out[q] += list_weight[m]
