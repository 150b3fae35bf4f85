"""Pairwise margins, one row at a time, and outranking relations.

``margin(i, j)`` is the weight of the lists that rank i above j, minus the weight of those that rank j above i. If a
missing item counts as last, every list that ranks i and not j adds to it; summed over lists this is
``listed(i) - listed(j)`` plus the contribution of the lists with both items, so partial lists need not be completed.

An outranking relation counts the leads of a list instead. One over an item that the list leaves out depends on the
other item alone. Summed over the lists of i these leads are one number per item, less those of the lists with both
items: the time grows with the squares of the lengths of the lists and of the number of items, as that of margins.
"""

import cython
import numpy as np

from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.elements import Float
    from juryrank.kernels.ragged import longest, stable_order

ROUNDING = 2.0**-52  # of one operation, relative to its result
TIE = 1e-12  # residues of sums, relative to all weights, that count as rounding for any number of lists
INFINITY = cython.declare(cython.double, float("inf"))
NAN = cython.declare(cython.double, float("nan"))


def residue(n_lists):
    """The share of the weights that rounding may leave in a margin of this many lists: less than this is a tie.

    The weights of one item's lists are added, then those of the other's, then the lists with both: at most three
    operations per list. A weight such as 0.1 is itself rounded, as is the product of the weights of list and expert.
    """
    return min(TIE, 2.0 * (n_lists + 2) * ROUNDING)


@cython.final
@cython.cclass
class SlotIndex:
    """The lists of all queries, and for each slot of one of them, numbered from 0: the lists that rank it.

    ``lists[ptr[i]:ptr[i+1]]`` are the lists that rank slot i, ``entries`` its entries in them, ``listed[i]`` their
    total weight. ``lists`` of the constructor has the arrays as attributes; one index serves the queries first:last.
    """

    def __init__(self, first: cython.longlong, last: cython.longlong, lists):
        self.slot_ptr, self.list_ptr, self.entry_ptr = lists.slot_ptr, lists.list_ptr, lists.entry_ptr
        self.entry_slot, self.entry_rank, self.list_weight = lists.entry_slot, lists.entry_rank, lists.list_weight
        self.most = longest(first, last, self.slot_ptr)
        entries: cython.longlong = 0
        for q in range(first, last):
            entries = max(entries, self.entry_ptr[self.list_ptr[q + 1]] - self.entry_ptr[self.list_ptr[q]])
        self.ptr = np.empty(self.most + 2, np.int64)
        self.lists, self.entries = np.empty(entries, np.int64), np.empty(entries, np.int64)
        self.listed = np.empty(self.most)

    def seek(self, q):
        """Go to query q: ``n`` slots from ``lo``, the lists ``begin:end``, and their residue ``rest``."""
        self.lo, self.n = self.slot_ptr[q], self.slot_ptr[q + 1] - self.slot_ptr[q]
        self.begin, self.end = self.list_ptr[q], self.list_ptr[q + 1]
        self.rest = residue(self.end - self.begin)

    def fill(self, q):
        """Go to query q and index it."""
        self.seek(q)
        entry_ptr, entry_slot, ptr = self.entry_ptr, self.entry_slot, self.ptr
        lo = self.lo
        for i in range(self.n + 2):
            ptr[i] = 0
        for e in range(entry_ptr[self.begin], entry_ptr[self.end]):
            ptr[entry_slot[e] - lo + 2] += 1
        for i in range(self.n):
            ptr[i + 2] += ptr[i + 1]
            self.listed[i] = 0.0
        for m in range(self.begin, self.end):
            for e in range(entry_ptr[m], entry_ptr[m + 1]):
                i = entry_slot[e] - lo
                at = ptr[i + 1]  # where the slot's lists end so far; in the end the next slot's begin there
                self.lists[at], self.entries[at] = m, e
                self.listed[i] += self.list_weight[m]
                ptr[i + 1] = at + 1

    def margin_row(self, i, last, row):
        """row[j] = margin(i, j), for the slots of the query numbered from 0; 0 if it is at most the residue."""
        listed, entry_slot, entry_rank = self.listed, self.entry_slot, self.entry_rank
        n, lo, rest = self.n, self.lo, self.rest
        own = listed[i]
        for j in range(n):
            row[j] = own - listed[j] if last else 0.0
        for t in range(self.ptr[i], self.ptr[i + 1]):
            m = self.lists[t]
            rank, weight = entry_rank[self.entries[t]], self.list_weight[m]
            for e in range(self.entry_ptr[m], self.entry_ptr[m + 1]):
                if entry_rank[e] > rank:
                    row[entry_slot[e] - lo] += weight
                elif entry_rank[e] < rank:
                    row[entry_slot[e] - lo] -= weight
        for j in range(n):
            if abs(row[j]) <= rest * max(own, listed[j]):
                row[j] = 0.0

    def margins(self, last, out):
        """out[i, j] = margin(i, j), for the slots of the query."""
        for i in range(self.n):
            self.margin_row(i, last, out[i])


def margins(q: cython.longlong, lists, out: cython.double[:, ::1]):
    """out[i, j] = margin(i, j) of one query; returns, by item, the rounding error that its margins may have.

    The error of a margin is at most the larger one of its two items.
    """
    index: SlotIndex = SlotIndex(q, q + 1, lists)
    last: cython.bint = lists.last
    with cython.nogil:
        index.fill(q)
        index.margins(last, out)
    return index.rest * np.asarray(index.listed)[: index.n]


@over_queries
def wins_and_losses(
    first: cython.longlong, end: cython.longlong, lists, won: cython.double[::1], lost: cython.double[::1]
):
    """The number of items of its query that each slot beats, and is beaten by, in a majority of the lists."""
    index: SlotIndex = SlotIndex(first, end, lists)
    last: cython.bint = lists.last
    row: cython.double[::1] = np.empty(index.most)
    with cython.nogil:
        for q in range(first, end):
            index.fill(q)
            for i in range(index.n):
                index.margin_row(i, last, row)
                for j in range(index.n):
                    if row[j] > 0:
                        won[index.lo + i] += 1
                    elif row[j] < 0:
                        lost[index.lo + i] += 1


def majority_sort(margin, order):
    """Insertion sort: an item moves up past the one before it if a majority prefers it."""
    for start in range(1, order.shape[0]):
        item, at = order[start], start
        while at > 0 and margin[item, order[at - 1]] > 0:
            order[at] = order[at - 1]
            at -= 1
        order[at] = item


@over_queries
def condorcet_places(first: cython.longlong, end: cython.longlong, lists, out: cython.double[::1]):
    """The number of items below each slot after a sort by majority that starts from the number of wins."""
    index: SlotIndex = SlotIndex(first, end, lists)
    last: cython.bint = lists.last
    margin: cython.double[:, ::1] = np.empty((index.most, index.most))
    minus_wins: cython.double[::1] = np.empty(index.most)
    orders: cython.longlong[:, ::1] = np.empty((2, index.most), np.int64)
    with cython.nogil:
        for q in range(first, end):
            index.fill(q)
            index.margins(last, margin)
            lo, n, order = index.lo, index.n, orders[0, : index.n]
            for i in range(n):
                order[i], minus_wins[i] = i, 0.0
                for j in range(n):
                    minus_wins[i] -= margin[i, j] > 0
            stable_order(minus_wins, order, orders[1])
            majority_sort(margin, order)
            at: cython.longlong = 0
            while at < n:
                stop, wins = at + 1, minus_wins[order[at]]
                while stop < n and margin[order[stop - 1], order[stop]] == 0 and minus_wins[order[stop]] == wins:
                    stop += 1
                for t in range(at, stop):
                    out[lo + order[t]] = n - 0.5 * (at + 1 + stop)
                at = stop


@over_queries
def kendall_distance(first: cython.longlong, end: cython.longlong, lists, scores: Float[::1], out: cython.double[::1]):
    """Weighted number of pairs of each query that a list orders one way and the scores the other way."""
    index: SlotIndex = SlotIndex(first, end, lists)
    missing = INFINITY if lists.last else NAN
    ranks: cython.double[::1] = np.empty(index.most)
    with cython.nogil:
        for q in range(first, end):
            index.seek(q)
            lo, n = index.lo, index.n
            for m in range(index.begin, index.end):
                for i in range(n):
                    ranks[i] = missing
                for e in range(index.entry_ptr[m], index.entry_ptr[m + 1]):
                    ranks[index.entry_slot[e] - lo] = index.entry_rank[e]
                for i in range(n):
                    rank, score = ranks[i], scores[lo + i]
                    for j in range(n):
                        if rank < ranks[j] and score < scores[lo + j]:
                            out[q] += index.list_weight[m]


def total_weight(index):
    """The weight of all lists of the query."""
    total: cython.double = 0.0
    for m in range(index.begin, index.end):
        total += index.list_weight[m]
    return total


def lead_over_rest(index, lead, far, by_entry, by_slot):
    """The weight of each entry's list if it is ahead of all items that the list leaves out by ``lead``, and by ``far``.

    First by entry, then the sums by slot. The items left out share the places below the list.
    """
    start, n = index.entry_ptr[index.begin], index.n
    for i in range(n):
        by_slot[0, i], by_slot[1, i] = 0.0, 0.0
    for m in range(index.begin, index.end):
        size, weight = index.entry_ptr[m + 1] - index.entry_ptr[m], index.list_weight[m]
        for e in range(index.entry_ptr[m], index.entry_ptr[m + 1]):
            ahead = size + 0.5 * (n - size + 1) - index.entry_rank[e]
            i = index.entry_slot[e] - index.lo
            by_entry[0, e - start] = weight if size < n and ahead >= lead else 0.0
            by_entry[1, e - start] = weight if size < n and ahead >= far else 0.0
            by_slot[0, i] += by_entry[0, e - start]
            by_slot[1, i] += by_entry[1, e - start]


def outranks(index, last, preference, veto, concordance, discordance, by_entry, by_slot, sums, out):
    """out[i, j] = 1 if i outranks j, else 0, for the slots of the query numbered from 0; the rest is scratch.

    A threshold that is missed only by rounding counts as met.
    """
    entry_slot, entry_place = index.entry_slot, index.entry_rank
    lo, n, start, rest = index.lo, index.n, index.entry_ptr[index.begin], index.rest
    lead, far = preference * n * (1.0 - TIE), veto * n * (1.0 - TIE)
    # Without ``last`` no lead is large enough to count over items that are left out.
    lead_over_rest(index, lead if last else INFINITY, far if last else INFINITY, by_entry, by_slot)
    everything = total_weight(index) if last else 0.0
    in_favour, against, total, wide = sums[0], sums[1], sums[2], by_entry[1]
    for i in range(n):
        for j in range(n):
            in_favour[j], against[j], total[j] = by_slot[0, i], by_slot[1, j], everything
        for t in range(index.ptr[i], index.ptr[i + 1]):
            m, at = index.lists[t], index.entries[t]
            weight, place, counted = index.list_weight[m], entry_place[at], by_entry[0, at - start]
            for e in range(index.entry_ptr[m], index.entry_ptr[m + 1]):
                j = entry_slot[e] - lo
                ahead = entry_place[e] - place
                in_favour[j] += (weight if ahead > 0 and ahead >= lead else 0.0) - counted
                against[j] += (weight if -ahead >= far else 0.0) - wide[e - start]
                if not last:
                    total[j] += weight
        for j in range(n):
            enough, few = (concordance - rest) * total[j], (discordance + rest) * total[j]
            out[i, j] = (total[j] > 0) & (in_favour[j] >= enough) & (against[j] <= few)
        out[i, i] = 0


def subtract_transposed(n, relation):
    """relation[i, j] -= relation[j, i], for all pairs of n items at once, in blocks that stay in the nearest cache."""
    for top in range(0, n, 64):
        for left in range(top, n, 64):
            for i in range(top, min(top + 64, n)):
                for j in range(max(left, i), min(left + 64, n)):
                    relation[i, j] -= relation[j, i]
                    relation[j, i] = -relation[i, j]


def extract_classes(net, merit, found, out):
    """out = minus the class of each item, 0 is best: the remaining items that outrank most and are outranked least.

    ``net[i, j]`` is 1 if i outranks j and not j i, -1 if it is the other way round, else 0. ``merit`` and ``found`` are
    scratch; the merit of an item that has its class is minus infinity.
    """
    n = out.shape[0]
    for i in range(n):
        merit[i] = 0.0
        for j in range(n):
            merit[i] += net[i, j]
    remaining, place = n, 0
    while remaining > 0:
        best = -INFINITY
        for i in range(n):
            best = max(best, merit[i])
        count: cython.longlong = 0
        for i in range(n):
            if merit[i] == best:
                out[i], merit[i], found[count] = -place, -INFINITY, i
                count += 1
        for t in range(count):
            for j in range(n):
                merit[j] += net[found[t], j]
        remaining -= count
        place += 1


@over_queries
def outranking_classes(
    first: cython.longlong, end: cython.longlong, lists,
    preference: cython.double, veto: cython.double, concordance: cython.double, discordance: cython.double,
    out: cython.double[::1],
):  # fmt: skip
    """Minus the outranking class of each slot; the ranks of ``lists`` are places."""
    index: SlotIndex = SlotIndex(first, end, lists)
    last: cython.bint = lists.last
    by_entry: cython.double[:, ::1] = np.empty((2, index.lists.shape[0]))
    by_slot: cython.double[:, ::1] = np.empty((2, index.most))
    sums: cython.double[:, ::1] = np.empty((3, index.most))
    relation: cython.schar[:, ::1] = np.empty((index.most, index.most), np.int8)
    found: cython.longlong[::1] = np.empty(index.most, np.int64)
    with cython.nogil:
        for q in range(first, end):
            index.fill(q)
            outranks(index, last, preference, veto, concordance, discordance, by_entry, by_slot, sums, relation)
            subtract_transposed(index.n, relation)
            extract_classes(relation, sums[0], found, out[index.lo : index.lo + index.n])
