"""From items of entries to slots: sorted items of a query, and sorted entries of a list; numbers of distinct keys."""

import cython
import numpy as np

if not cython.compiled:
    from juryrank.kernels.elements import Float, Int, Int32

FEW = cython.declare(cython.longlong, 64)  # numbers up to which sorting by insertion is the fastest


def gather_lists(
    lists: Int[::1], first: cython.longlong, start: Int[::1], entry_ptr: Int[::1], item: Int32[::1], place: Int32[::1],
    score: Float[::1], item_out: cython.int[::1], score_out: cython.double[::1]
):  # fmt: skip
    """The entries of lists, ``place`` of their items, where those of list n go to ``entry_ptr[n]``.

    ``lists`` are numbers of lists; of these, first, first + 1, … are here, at ``start``.
    """
    with cython.nogil:
        for n in range(lists.shape[0]):
            m = lists[n] - first
            if 0 <= m < start.shape[0]:
                shift = start[m] - entry_ptr[n]
                for e in range(entry_ptr[n], entry_ptr[n + 1]):
                    item_out[e] = place[item[e + shift]]
                    score_out[e] = score[e + shift]


def fill_slots(
    list_ptr: Int[::1], entry_ptr: Int[::1], item: Int32[::1], score: Float[::1], seen: cython.int[::1],
    slot_ptr: cython.longlong[::1], slot_item: cython.int[::1], entry_slot: cython.int[::1],
    entry_rank: cython.double[::1]
):  # fmt: skip
    """Slots, ranks (1 is best, equal scores share the smaller) and the order of ties, of lists that fall in score.

    ``seen`` has room for every item and starts at -1. False where a list rises in score or has an item twice.
    """
    n_items, n_queries = seen.shape[0], list_ptr.shape[0] - 1
    here: cython.int[::1] = np.empty(n_items, np.int32)
    last_list: cython.int[::1] = np.full(n_items, -1, np.int32)  # that has a slot of the query
    spare: cython.int[::1] = np.empty(n_items, np.int32)
    ends: cython.longlong[::1] = np.empty(257, np.int64)
    n_slots: cython.longlong = 0
    fits: cython.bint = True
    with cython.nogil:
        for q in range(n_queries):
            slot_ptr[q] = n_slots
            count: cython.longlong = 0
            for e in range(entry_ptr[list_ptr[q]], entry_ptr[list_ptr[q + 1]]):
                if seen[item[e]] < n_slots:
                    seen[item[e]] = n_slots
                    here[count] = item[e]
                    count += 1
            sort_numbers(0, count, here, spare, ends)  # numbers of items are in the order of their names
            for n in range(count):
                slot_item[n_slots + n] = here[n]
                seen[here[n]] = n_slots + n
            for m in range(list_ptr[q], list_ptr[q + 1]):
                first, last = entry_ptr[m], entry_ptr[m + 1]
                if fits:
                    fits = rank_list(
                        m, n_slots, first, last, item, score, seen, last_list, entry_slot, entry_rank, spare, ends
                    )
            if not fits:
                break
            n_slots += count
    slot_ptr[n_queries] = n_slots
    return fits


def rank_list(m, lo, first, last, item, score, seen, last_list, entry_slot, entry_rank, spare, ends):
    """Slots and ranks of one list, tied entries in the order of their slots; False if the list has another form.

    The slots of its query begin at ``lo``.
    """
    tied = first  # where the tied entries start
    falls: cython.bint = False  # whether their slots ever fall
    for e in range(first, last):
        slot = seen[item[e]]
        if last_list[slot - lo] == m or (e > first and not score[e] <= score[e - 1]):
            return False
        last_list[slot - lo] = m
        if e > first and score[e] < score[e - 1]:
            if falls:
                sort_numbers(tied, e, entry_slot, spare, ends)
            tied, falls = e, False
        entry_rank[e] = tied - first + 1
        entry_slot[e] = slot
        falls |= e > tied and entry_slot[e - 1] > slot
    if falls:
        sort_numbers(tied, last, entry_slot, spare, ends)
    return True


def sort_numbers(first, last, values, spare, ends):
    """Sort values[first:last] >= 0: a few by insertion, others byte by byte, whose time does not depend on the order.

    ``spare`` has room for last - first numbers and ``ends`` for 257.
    """
    if last - first > FEW:
        sort_by_bytes(first, last, values, spare, ends)
        return
    for i in range(first + 1, last):
        value, at = values[i], i
        while at > first and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value


def sort_by_bytes(first, last, values, spare, ends):
    """``sort_numbers`` from their last byte to their first (radix sort)."""
    largest: cython.longlong = 0
    for i in range(first, last):
        largest = max(largest, values[i])
    shift = 0
    while largest >> shift > 0:
        for b in range(257):
            ends[b] = 0
        for i in range(first, last):
            ends[((values[i] >> shift) & 255) + 1] += 1
        for b in range(256):
            ends[b + 1] += ends[b]
        for i in range(first, last):
            b = (values[i] >> shift) & 255
            spare[ends[b]] = values[i]
            ends[b] += 1
        for i in range(first, last):
            values[i] = spare[i - first]
        shift += 8


def spread_labels(
    slot_ptr: Int[::1], slot_item: Int32[::1], label_ptr: Int[::1], label_item: Int32[::1], label_value: Float[::1],
    place: cython.longlong[::1], out: cython.double[::1]
):  # fmt: skip
    """The label of each slot, where its item has one; ``place`` has room for every item and starts at -1."""
    with cython.nogil:
        for q in range(slot_ptr.shape[0] - 1):
            for s in range(slot_ptr[q], slot_ptr[q + 1]):
                place[slot_item[s]] = s
            for t in range(label_ptr[q], label_ptr[q + 1]):
                s = place[label_item[t]]
                if s >= slot_ptr[q]:  # otherwise the item is in an earlier query only
                    out[s] = label_value[t]


def number_keys(
    keys: Int[::1], table: cython.int[::1], first: cython.longlong[::1], out: cython.int[::1]
) -> cython.longlong:
    """out[n] = the number of keys[n], in the order in which they first appear; returns how many there are.

    That is -1 if they fill more than half of the table. ``table`` is a hash table of numbers, -1 where free, with a
    power of two of places; ``first`` gets where each number appears first. Keys are addresses, so the lowest bits carry
    no information.
    """
    size, found = table.shape[0], cython.cast(cython.longlong, 0)
    with cython.nogil:
        for n in range(keys.shape[0]):
            at = ((keys[n] >> 4) ^ (keys[n] >> 16)) & (size - 1)
            while table[at] >= 0 and keys[first[table[at]]] != keys[n]:
                at = (at + 1) & (size - 1)
            if table[at] < 0:
                if 2 * found >= size:
                    found = -1
                    break
                table[at], first[found] = found, n
                found += 1
            out[n] = table[at]
    return found
