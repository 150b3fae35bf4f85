"""From the items of entries to slots: sorted items of a query, and sorted entries of a list."""

import numpy as np

from juryrank.kernels.jit import kernel

FEW = 64  # numbers up to which sorting by insertion is the fastest


@kernel
def gather_lists(lists, first, start, entry_ptr, item, place, score, item_out, score_out):
    """The entries of lists, ``place`` of their items, where those of list n go to ``entry_ptr[n]``.

    ``lists`` are numbers of lists; of these, first, first + 1, … are here, at ``start``.
    """
    for n in range(len(lists)):
        m = lists[n] - first
        if 0 <= m < len(start):
            shift = start[m] - entry_ptr[n]
            for e in range(entry_ptr[n], entry_ptr[n + 1]):
                item_out[e] = place[item[e + shift]]
                score_out[e] = score[e + shift]


@kernel
def fill_slots(list_ptr, entry_ptr, item, score, seen, slot_ptr, slot_item, entry_slot, entry_rank):
    """Slots, ranks (1 is best, equal scores share the smaller) and the order of ties, of lists that fall in score.

    ``seen`` has room for every item and starts at -1. False where a list rises in score or has an item twice.
    """
    here = np.empty(len(seen), np.int32)
    last_list = np.full(len(seen), -1, np.int32)  # that has a slot of the query
    n_slots = 0
    for q in range(len(list_ptr) - 1):
        slot_ptr[q] = n_slots
        count = 0
        for e in range(entry_ptr[list_ptr[q]], entry_ptr[list_ptr[q + 1]]):
            if seen[item[e]] < slot_ptr[q]:
                seen[item[e]] = n_slots
                here[count] = item[e]
                count += 1
        sort_numbers(here[:count])  # numbers of items are in the order of their names
        for n in range(count):
            slot_item[n_slots + n] = here[n]
            seen[here[n]] = n_slots + n
        n_slots += count
        for m in range(list_ptr[q], list_ptr[q + 1]):
            lo, first, last = slot_ptr[q], entry_ptr[m], entry_ptr[m + 1]
            if not rank_list(m, lo, first, last, item, score, seen, last_list, entry_slot, entry_rank):
                return False
    slot_ptr[-1] = n_slots
    return True


@kernel
def rank_list(m, lo, first, last, item, score, seen, last_list, entry_slot, entry_rank):
    """Slots and ranks of one list, tied entries in the order of their slots; False if the list has another form.

    The slots of its query begin at ``lo``.
    """
    tied, falls = first, False  # where the tied entries start, and whether their slots ever fall
    for e in range(first, last):
        slot = seen[item[e]]
        if last_list[slot - lo] == m or (e > first and not score[e] <= score[e - 1]):
            return False
        last_list[slot - lo] = m
        if e > first and score[e] < score[e - 1]:
            if falls:
                sort_numbers(entry_slot[tied:e])
            tied, falls = e, False
        entry_rank[e] = tied - first + 1
        entry_slot[e] = slot
        falls |= e > tied and entry_slot[e - 1] > slot
    if falls:
        sort_numbers(entry_slot[tied:last])
    return True


@kernel
def sort_numbers(values):
    """Sort numbers >= 0 in place: a few by insertion, others byte by byte, whose time does not depend on the order."""
    if len(values) > FEW:
        sort_by_bytes(values)
        return
    for i in range(1, len(values)):
        value, at = values[i], i
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value


@kernel
def sort_by_bytes(values):
    """Sort numbers >= 0 in place from their last byte to their first (radix sort)."""
    n, largest = len(values), 0
    for i in range(n):
        largest = max(largest, values[i])
    source, target = values, np.empty(n, values.dtype)
    shift = 0
    while largest >> shift > 0:
        ends = np.zeros(257, np.int64)
        for i in range(n):
            ends[((source[i] >> shift) & 255) + 1] += 1
        for b in range(256):
            ends[b + 1] += ends[b]
        for i in range(n):
            b = (source[i] >> shift) & 255
            target[ends[b]] = source[i]
            ends[b] += 1
        source, target = target, source
        shift += 8
    if shift % 16 == 8:  # after an odd number of rounds the numbers are in the other array
        for i in range(n):
            target[i] = source[i]


@kernel
def spread_labels(slot_ptr, slot_item, label_ptr, label_item, label_value, place, out):
    """The label of each slot, where its item has one; ``place`` has room for every item and starts at -1."""
    for q in range(len(slot_ptr) - 1):
        for s in range(slot_ptr[q], slot_ptr[q + 1]):
            place[slot_item[s]] = s
        for t in range(label_ptr[q], label_ptr[q + 1]):
            s = place[label_item[t]]
            if s >= slot_ptr[q]:  # otherwise the item is in an earlier query only
                out[s] = label_value[t]
