"""Who beats whom: margins, one row at a time.

``margin(i, j)`` is the weight of the lists that put i above j, less the weight of those that put j above i. Where a
missing item counts as last, every list that ranks i and not j adds to it; summed over lists that is
``listed(i) - listed(j)`` plus what the lists with both say, so partial lists stay partial.
"""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries

# Sums of weights such as 0.1 leave residues near 1e-16; a margin this small, relative to all weights, is a tie.
TIE = 1e-12


@kernel
def index_of_slots(q, slot_ptr, list_ptr, entry_ptr, entry_slot, list_weight):
    """Of each slot of a query, the lists that rank it, its entries in them, and their weight."""
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
def margin_row(i, lo, index, entry_ptr, entry_slot, entry_rank, list_weight, tie, last, row):
    """row[j] = margin(i, j), for the slots of one query numbered from 0."""
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
        if abs(row[j]) <= tie:
            row[j] = 0.0


@kernel
def margins(q, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, last, out):
    """out[i, j] = margin(i, j) of one query."""
    index = index_of_slots(q, slot_ptr, list_ptr, entry_ptr, entry_slot, list_weight)
    tie = TIE * list_weight[list_ptr[q] : list_ptr[q + 1]].sum()
    for i in range(len(out)):
        margin_row(i, slot_ptr[q], index, entry_ptr, entry_slot, entry_rank, list_weight, tie, last, out[i, :])


@over_queries
def wins_and_losses(first, end, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, last, won, lost):
    """How many items of its query each slot beats, and is beaten by, in a majority of the lists."""
    for q in range(first, end):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        index = index_of_slots(q, slot_ptr, list_ptr, entry_ptr, entry_slot, list_weight)
        tie = TIE * list_weight[list_ptr[q] : list_ptr[q + 1]].sum()
        row = np.empty(n)
        for i in range(n):
            margin_row(i, lo, index, entry_ptr, entry_slot, entry_rank, list_weight, tie, last, row)
            for j in range(n):
                if row[j] > 0:
                    won[lo + i] += 1
                elif row[j] < 0:
                    lost[lo + i] += 1


@kernel
def wins_of(margin, out):
    """How many items each item beats."""
    for i in range(len(margin)):
        out[i] = 0.0
        for j in range(len(margin)):
            if margin[i, j] > 0:
                out[i] += 1


@kernel
def majority_sort(margin, order):
    """Insertion sort: an item moves up past the one before it when a majority prefers it."""
    for start in range(1, len(order)):
        item = order[start]
        at = start
        while at > 0 and margin[item, order[at - 1]] > 0:
            order[at] = order[at - 1]
            at -= 1
        order[at] = item


@kernel
def insertion_search(margin, order):
    """Move single items to their best place until no move lowers the Kendall distance to the lists."""
    n = len(order)
    moved = True
    while moved:
        moved = False
        for at in range(n):
            item = order[at]
            best, best_at, gain = TIE, at, 0.0
            for to in range(at - 1, -1, -1):
                gain += margin[item, order[to]]
                if gain > best:
                    best, best_at = gain, to
            gain = 0.0
            for to in range(at + 1, n):
                gain += margin[order[to], item]
                if gain > best:
                    best, best_at = gain, to
            if best_at == at:
                continue
            step = 1 if best_at > at else -1
            for to in range(at, best_at, step):
                order[to] = order[to + step]
            order[best_at] = item
            moved = True


@over_queries
def condorcet_places(first, end, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, last, out):
    """Items left below each slot when the query is sorted by majority, starting from the number of wins."""
    for q in range(first, end):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        margin = np.empty((n, n))
        margins(q, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, last, margin)
        wins = np.empty(n)
        wins_of(margin, wins)
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
def local_kemeny(first, end, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, last, out):
    """Items left below each slot in a locally optimal Kemeny order, searched from the sum of margins (Borda)."""
    for q in range(first, end):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        margin = np.empty((n, n))
        margins(q, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, last, margin)
        strength = np.empty(n)
        for i in range(n):
            strength[i] = margin[i, :].sum()
        order = np.argsort(-strength, kind="mergesort")
        insertion_search(margin, order)
        for t in range(n):
            out[lo + order[t]] = n - 1 - t


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
