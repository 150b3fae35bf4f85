"""The lists of queries as kernels of strengths take them, and the pairs of items that lists compare.

Lists may end in a ``tail`` of items that the expert did not rank but that count as last; two items of one tail are not
compared. Each pair is counted once, with the weight of the lists for either side and for a tie. Pairs are ``first <
second``, numbered from 0 inside a query; memory is that of the distinct pairs.
"""

import cython
import numpy as np

from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.elements import Int
    from juryrank.kernels.pairwise import SlotIndex
    from juryrank.kernels.ragged import longest


@cython.final
@cython.cclass
class Lists:
    """The lists of all queries; the arrays are not copied, and may be read-only.

    * ``slot_ptr``, ``list_ptr``: [n_queries + 1] where the slots and the lists of each query begin
    * ``entry_ptr``: [n_lists + 1] where the entries of each list begin
    * ``entry_slot``: [n_entries]
    * ``entry_rank``: [n_entries] infinite in a tail
    * ``list_weight``: [n_lists]
    * ``tail``: [n_lists] how many entries at the end of the list are not ranked
    """

    def __init__(self, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, tail):
        self.slot_ptr, self.list_ptr, self.entry_ptr, self.tail = slot_ptr, list_ptr, entry_ptr, tail
        self.entry_slot, self.entry_rank, self.list_weight = entry_slot, entry_rank, list_weight

    def weighted(self, list_weight):
        """The same lists with other weights."""
        return Lists(
            self.slot_ptr, self.list_ptr, self.entry_ptr, self.entry_slot, self.entry_rank, list_weight, self.tail
        )


@cython.final
@cython.cclass
class Pairs:
    """The first ``count`` pairs: their items ``left`` and ``right``, and the weight that ``left`` won, lost and tied.

    Pairs of one first item stand together.
    """

    def __init__(self, left, right, won, lost, tied):
        self.left, self.right, self.won, self.lost, self.tied = left, right, won, lost, tied
        self.count = len(left)


def room_for_pairs(most):
    """No pairs, with room for ``most``."""
    items: cython.int[:, ::1] = np.empty((2, most), np.int32)
    weights: cython.double[:, ::1] = np.empty((3, most))
    pairs: Pairs = Pairs.__new__(Pairs)
    pairs.left, pairs.right, pairs.count = items[0], items[1], 0
    pairs.won, pairs.lost, pairs.tied = weights[0], weights[1], weights[2]
    return pairs


@cython.final
@cython.cclass
class PairCounter:
    """``pairs`` of one query at a time, of the queries first:last; ``most`` is that of ``most_pairs``."""

    def __init__(self, first: cython.longlong, last: cython.longlong, lists: Lists, most: Int[::1]):
        self.lists, self.index = lists, SlotIndex(first, last, lists)
        room: cython.longlong = 0
        for q in range(first, last):
            room = max(room, most[q])
        self.pairs = room_for_pairs(room)
        self.row, self.number = np.empty(self.index.most, np.int64), np.empty(self.index.most, np.int64)
        self.counts = np.zeros(3 * self.index.most)
        self.weight = np.empty(longest(first, last, lists.list_ptr))

    def count(self, q):
        """Count the pairs of query q."""
        list_ptr, entry_ptr, tail = self.lists.list_ptr, self.lists.entry_ptr, self.lists.tail
        m = list_ptr[q]
        while m < list_ptr[q + 1] and entry_ptr[m + 1] - entry_ptr[m] == 2 and tail[m] == 0:
            m += 1
        if m == list_ptr[q + 1]:
            self.count_comparisons(q)
            return
        self.index.fill(q)
        lo, n, ptr, lists, entries = self.index.lo, self.index.n, self.index.ptr, self.index.lists, self.index.entries
        entry_slot, entry_rank, list_weight = self.lists.entry_slot, self.lists.entry_rank, self.lists.list_weight
        won, lost, tied, row, number = self.pairs.won, self.pairs.lost, self.pairs.tied, self.row, self.number
        for i in range(n):
            row[i] = -1
        found: cython.longlong = 0
        for i in range(n):
            for t in range(ptr[i], ptr[i + 1]):
                m, at = lists[t], entries[t]
                ranked, rank, weight = entry_ptr[m + 1] - tail[m], entry_rank[at], list_weight[m]
                for e in range(entry_ptr[m], entry_ptr[m + 1]):
                    j = entry_slot[e] - lo
                    if j <= i or (e >= ranked and at >= ranked):
                        continue
                    if row[j] != i:
                        row[j], number[j] = i, found
                        self.pairs.left[found], self.pairs.right[found] = i, j
                        won[found], lost[found], tied[found] = 0.0, 0.0, 0.0
                        found += 1
                    if rank < entry_rank[e]:
                        won[number[j]] += weight
                    elif rank > entry_rank[e]:
                        lost[number[j]] += weight
                    else:
                        tied[number[j]] += weight
        self.pairs.count = found

    def count_comparisons(self, q):
        """``count`` if every list is a comparison of two items: a counting sort by the first item, then by row."""
        lo, n = self.lists.slot_ptr[q], self.lists.slot_ptr[q + 1] - self.lists.slot_ptr[q]
        begin, end, entry_ptr = self.lists.list_ptr[q], self.lists.list_ptr[q + 1], self.lists.entry_ptr
        entry_slot, entry_rank, list_weight = self.lists.entry_slot, self.lists.entry_rank, self.lists.list_weight
        ptr, said, weight = self.index.ptr, self.index.entries, self.weight
        for i in range(n + 2):
            ptr[i] = 0
        for m in range(begin, end):
            e = entry_ptr[m]
            ptr[min(entry_slot[e], entry_slot[e + 1]) - lo + 2] += 1
        for i in range(n):
            ptr[i + 2] += ptr[i + 1]
        for m in range(begin, end):
            e = entry_ptr[m]
            i, j = entry_slot[e] - lo, entry_slot[e + 1] - lo
            outcome: cython.longlong = 2 if entry_rank[e] == entry_rank[e + 1] else 0 if i < j else 1
            at = ptr[min(i, j) + 1]  # where the row ends so far
            said[at], weight[at] = 3 * max(i, j) + outcome, list_weight[m]
            ptr[min(i, j) + 1] = at + 1
        won, lost, tied = self.pairs.won, self.pairs.lost, self.pairs.tied
        row, number, counts = self.row, self.number, self.counts  # counts: of a row, won, lost and tied by pair
        for i in range(n):
            row[i] = -1
        found: cython.longlong = 0
        for i in range(n):
            start = found
            for t in range(ptr[i], ptr[i + 1]):
                j = said[t] // 3
                if row[j] != i:
                    row[j], number[j] = i, 3 * (found - start)
                    self.pairs.left[found], self.pairs.right[found] = i, j
                    found += 1
                counts[number[j] + said[t] - 3 * j] += weight[t]
            for p in range(start, found):
                at = 3 * (p - start)
                won[p], lost[p], tied[p] = counts[at], counts[at + 1], counts[at + 2]
                counts[at], counts[at + 1], counts[at + 2] = 0.0, 0.0, 0.0
        self.pairs.count = found

    def count_differences(self, q, entry_value):
        """``count`` with the sum of positive differences of values for either side; equal values count nothing."""
        self.count(q)
        left, right, won, lost = self.pairs.left, self.pairs.right, self.pairs.won, self.pairs.lost
        for p in range(self.pairs.count):
            won[p], lost[p], self.pairs.tied[p] = 0.0, 0.0, 0.0
        self.add_leads(q, entry_value, won, lost, -1.0)
        kept: cython.longlong = 0
        for p in range(self.pairs.count):  # items that only tied are not connected
            if won[p] + lost[p] > 0.0:
                left[kept], right[kept], won[kept], lost[kept] = left[p], right[p], won[p], lost[p]
                kept += 1
        self.pairs.count = kept

    def mean_leads(self, q, entry_value, out):
        """out = for each counted pair, the value of the first minus that of the second, averaged over lists."""
        for p in range(self.pairs.count):
            out[p] = 0.0
        self.add_leads(q, entry_value, out, out, 1.0)
        for p in range(self.pairs.count):
            out[p] /= self.pairs.won[p] + self.pairs.lost[p] + self.pairs.tied[p]

    def add_leads(self, q, entry_value, ahead, behind, sign):
        """Add the lead of the first item in each list to ``ahead``; if it is not, ``sign`` times that to ``behind``."""
        self.index.fill(q)
        lo, n, ptr, lists, entries = self.index.lo, self.index.n, self.index.ptr, self.index.lists, self.index.entries
        entry_ptr, entry_slot, number = self.lists.entry_ptr, self.lists.entry_slot, self.number
        p: cython.longlong = 0
        for i in range(n):
            while p < self.pairs.count and self.pairs.left[p] == i:
                number[self.pairs.right[p]] = p
                p += 1
            for t in range(ptr[i], ptr[i + 1]):
                m, at = lists[t], entries[t]
                ranked, weight = entry_ptr[m + 1] - self.lists.tail[m], self.lists.list_weight[m]
                for e in range(entry_ptr[m], entry_ptr[m + 1]):
                    j = entry_slot[e] - lo
                    if j > i and (e < ranked or at < ranked):
                        lead = weight * (entry_value[at] - entry_value[e])
                        if lead > 0.0:
                            ahead[number[j]] += lead
                        else:
                            behind[number[j]] += sign * lead


def pairs_of_query(q: cython.longlong, lists: Lists, most: Int[::1]):
    """The pairs of one query as arrays: left, right, won, lost and tied."""
    counter: PairCounter = PairCounter(q, q + 1, lists, most)
    with cython.nogil:
        counter.count(q)
    pairs, n = counter.pairs, counter.pairs.count
    arrays = [pairs.left, pairs.right, pairs.won, pairs.lost, pairs.tied]
    return [np.array(array[:n]) for array in arrays]


@over_queries
def most_pairs(first: cython.longlong, last: cython.longlong, lists: Lists, out: cython.longlong[::1]):
    """The maximum number of distinct pairs of each query: those of its lists, or all of its items."""
    with cython.nogil:
        for q in range(first, last):
            n = lists.slot_ptr[q + 1] - lists.slot_ptr[q]
            compared: cython.longlong = 0
            for m in range(lists.list_ptr[q], lists.list_ptr[q + 1]):
                size = lists.entry_ptr[m + 1] - lists.entry_ptr[m]
                compared += size * (size - 1) // 2
            out[q] = min(compared, n * (n - 1) // 2)


def join(root, i, j):
    """Merge the groups of i and j; a group is identified by its first item."""
    while root[i] != i:
        root[i] = root[root[i]]
        i = root[i]
    while root[j] != j:
        root[j] = root[root[j]]
        j = root[j]
    root[max(i, j)] = min(i, j)


def groups_of_pairs(n, pairs, root):
    """root = the first item of the group of each of n items; the items of a pair are compared."""
    for i in range(n):
        root[i] = i
    for p in range(pairs.count):
        join(root, pairs.left[p], pairs.right[p])
    for i in range(n):
        root[i] = root[root[i]]


def groups_of_lists(q, lists, root):
    """root = the first item of the group of each item of query q; all items of a list are compared."""
    lo = lists.slot_ptr[q]
    for i in range(lists.slot_ptr[q + 1] - lo):
        root[i] = i
    for m in range(lists.list_ptr[q], lists.list_ptr[q + 1]):
        for e in range(lists.entry_ptr[m] + 1, lists.entry_ptr[m + 1]):
            join(root, lists.entry_slot[lists.entry_ptr[m]] - lo, lists.entry_slot[e] - lo)
    for i in range(lists.slot_ptr[q + 1] - lo):
        root[i] = root[root[i]]


def centre(n, root, total, size, x):
    """Subtract from each group of n items its mean; ``total`` and ``size`` are scratch."""
    for i in range(n):
        total[i], size[i] = 0.0, 0.0
    for i in range(n):
        total[root[i]] += x[i]
        size[root[i]] += 1.0
    for i in range(n):
        x[i] -= total[root[i]] / size[root[i]]
