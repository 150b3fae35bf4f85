"""Sums over lists as Python has them; the ranking is written to a dict of Python.

``numbers`` is all memory of the process from the address BASE on, as floats, and other arguments are as in
``python_objects``.
"""

import numpy as np

from juryrank.kernels.jit import kernel, object_kernel
from juryrank.kernels.json_lists import (
    DEEP,
    FULL,
    KEY,
    LIST,
    NUMBER,
    START,
    STOP,
    UNUSUAL,
    WHOLE,
    find_item,
    order_items,
)
from juryrank.kernels.names import hash_bytes
from juryrank.kernels.python_objects import (
    BASE,
    BEST,
    BY_NAME,
    DEPTH,
    ENTRIES,
    IDS,
    ITEMS,
    LARGEST,
    LISTS,
    MAY_REPEAT,
    MAY_TIE,
    MISSING,
    OF_IDS,
    PAIRS,
    POINTS,
    REPEATED,
    REPEATING,
    RESULT,
    SCORED,
    SOURCES,
    SPACE,
    TEXT_TYPE,
    TIED,
    TOP,
    have_one_type,
    missing_repeat,
    new_float,
    read_list,
    release,
    set_item,
    text_of,
    tuple_item,
    tuple_size,
    whole_of,
)  # fmt: skip
from juryrank.kernels.words import HALF, ONE, PRIME


@kernel
def drop_missing(key, given):
    """The number of scores that are finite; they and their ids come to the front."""
    size = 0
    for n in range(len(key)):
        if np.isfinite(given[n]):
            key[size], given[size] = key[n], given[n]
            size += 1
    return size


@kernel
def rank_scores(memory, shape, items, key, given, rank, order, spare, spare_given):
    """Sort the entries of a list by score, unless they are; ``rank`` gets their ranks from 0 on, where equal ones tie.

    False if scores tie and may not.
    """
    falls = 1  # entries in order
    for n in range(len(key)):
        rank[n] = n
        falls += n > 0 and given[n] < given[n - 1]
    if falls >= len(key):
        return True
    spare[: len(key)] = key
    found, place = order_items(memory, items, given, len(key), False, order, spare_given, rank)
    for n in range(len(key)):
        key[n] = spare[place[n]]
        given[n] = found[n]
    for n in range(len(key)):
        rank[n] = n
        if n > 0 and given[n] == given[n - 1]:
            rank[n] = rank[n - 1]
            shape[TIED] = 1
    return shape[TIED] == 0 or shape[MAY_TIE] != 0


@kernel
def gather_lists(memory, shape, space, ptr, key, given, rank, items, order, spare, spare_given):
    """The number of entries of all lists, those of list l from ``ptr[l]`` on, best first; negative as ``fuse_python``.

    ``space[4 + l]`` gets the kind of list l.
    """
    stop, shape[LISTS] = 0, tuple_size(shape[SOURCES])
    shape[MISSING], shape[SCORED], shape[TIED], shape[OF_IDS] = 0, 0, 0, 0
    if shape[LISTS] >= len(ptr):
        return FULL
    for l in range(shape[LISTS]):
        ptr[l] = stop
        size = read_list(memory, tuple_item(shape[SOURCES], l), shape, space, key[stop:], given[stop:])
        if size < 0:
            return size
        if not have_one_type(memory, key[stop : stop + size], shape):
            return UNUSUAL
        scored = space[3] != IDS and size > 0
        if scored:
            own = slice(stop, stop + size)
            if space[3] == PAIRS and missing_repeat(memory, shape, space, key[own], given[own]):
                return UNUSUAL
            kept = drop_missing(key[own], given[own])
            shape[MISSING] += size - kept
            shape[SCORED] += kept > 0
            size = kept
        own = slice(stop, stop + size)
        if scored and not rank_scores(memory, shape, items, key[own], given[own], rank[own], order, spare, spare_given):
            return UNUSUAL
        if not scored:
            for n in range(size):
                rank[stop + n] = n
        space[4 + l] = space[3]
        stop += size
    ptr[shape[LISTS]] = shape[ENTRIES] = stop
    return stop


@kernel
def hash_whole(number):
    """A hash of a whole number, as of ``hash_bytes``."""
    mixed = (np.uint64(number) + ONE) * PRIME
    mixed = (mixed ^ (mixed >> HALF)) * PRIME
    return np.int64((mixed ^ (mixed >> HALF)) >> ONE)


@kernel
def rank_again(given, entry_item, rank):
    """The ranks of a list by score without the entries that repeat an item, which are after its best."""
    place, before = 0, -1
    for n in range(len(given)):
        if entry_item[n] >= 0:
            rank[n] = rank[before] if before >= 0 and given[n] == given[before] else place
            place, before = place + 1, n


@kernel
def number_items(memory, shape, space, ptr, key, given, rank, table, items, entry_item):
    """The number of different items; ``entry_item`` gets that of each entry, -1 where it repeats one of its list."""
    count, n_entries, places = 0, shape[ENTRIES], 16
    while places < 2 * n_entries and places < len(table):
        places *= 2
    table = table[:places]
    table[:] = -1
    shape[REPEATED] = 0
    for l in range(shape[LISTS]):
        for e in range(ptr[l], ptr[l + 1]):
            if shape[OF_IDS] == shape[TEXT_TYPE]:
                start = text_of(key[e], shape[SPACE]) - BASE
                if start < 0 or start % 8 != 0:
                    return UNUSUAL
                stop = start + space[0]
                hashed = hash_bytes(memory, start, stop)
            else:
                start, stop = whole_of(key[e]), WHOLE
                if start < 0 or start >= LARGEST:
                    return UNUSUAL
                hashed = hash_whole(start)
            n = find_item(memory, start, stop, hashed, table, items, count)
            if n == count:
                if 2 * count >= places:
                    return FULL
                items[n, START], items[n, STOP], items[n, LIST], items[n, KEY] = start, stop, -1, key[e]
                count += 1
            if n < 0 or (items[n, LIST] == l and shape[MAY_REPEAT] == 0):
                return UNUSUAL
            if items[n, LIST] == l:
                shape[REPEATED] += 1
                space[4 + l] = IDS if space[4 + l] == IDS else REPEATING
                n = -1
            else:
                items[n, LIST] = l
            entry_item[e] = n
        if space[4 + l] == REPEATING:
            rank_again(given[ptr[l] : ptr[l + 1]], entry_item[ptr[l] : ptr[l + 1]], rank[ptr[l] : ptr[l + 1]])
    shape[ITEMS] = count
    return count


@kernel
def read_lists(memory, shape, space, ptr, key, given, rank, table, items, entry_item, order, spare, spare_given):
    """The number of different items in all lists, as ``gather_lists`` and ``number_items`` leave them."""
    found = gather_lists(memory, shape, space, ptr, key, given, rank, items, order, spare, spare_given)
    return number_items(memory, shape, space, ptr, key, given, rank, table, items, entry_item) if found > 0 else found


@kernel
def write_best(memory, shape, items, scores, count, order, spare, best):
    """Sort the items by score, and put the best into the result; negative if Python has no memory left."""
    sums, found = order_items(memory, items, scores, count, shape[BY_NAME] == 1, order, best, spare)
    shape[BEST] = min(count, shape[TOP])
    for n in range(shape[BEST]):
        items[n, NUMBER] = found[n]
        number = new_float(sums[n])
        if number == 0:
            return UNUSUAL
        failed = set_item(shape[RESULT], items[found[n], KEY], number)
        release(number)
        if failed != 0:
            return UNUSUAL
    return count


@object_kernel
def fuse_python(
    memory, numbers, shape, space, ptr, key, given, rank, table, items, entry_item, scores, order, spare, best
):  # fmt: skip
    """The number of different items, the best of which the result gets, with the sums of their points.

    0 where there are none. UNUSUAL if Python must look at the lists: other types, several types of ids, too many ids
    with one hash, an item twice in a list, or ties, where they may not be. DEEP if a list has more items than points,
    FULL if there are too many.
    """
    count = read_lists(memory, shape, space, ptr, key, given, rank, table, items, entry_item, order, spare, best)
    for n in range(count):
        scores[n] = 0.0
    points = shape[POINTS]
    if count > 0:
        for l in range(shape[LISTS]):
            if ptr[l + 1] - ptr[l] > shape[DEPTH]:
                return DEEP
            for e in range(ptr[l], ptr[l + 1]):
                if entry_item[e] >= 0:
                    scores[entry_item[e]] += numbers[points + rank[e]]
            points += shape[DEPTH]
        return write_best(memory, shape, items, scores, count, order, spare, best)
    return count


@object_kernel
def read_python(memory, shape, space, ptr, key, given, rank, table, items, entry_item, order, spare, best):
    """As ``read_lists``, for scores that are no sums of points."""
    return read_lists(memory, shape, space, ptr, key, given, rank, table, items, entry_item, order, spare, best)


@object_kernel
def write_python(memory, shape, items, scores, order, spare, best):
    """Put the best items with their ``scores`` into the result, after ``read_python``; their number."""
    return write_best(memory, shape, items, scores, shape[ITEMS], order, spare, best)


@kernel
def write_ranks(shape, ptr, items, entry_item, ranks):
    """``ranks[n * n_lists + l]`` gets the rank of the nth of the first items in list l, 0 where it is not in the list.

    After ``fuse_python`` of lists in order that repeat no item.
    """
    n_lists, n_best = shape[LISTS], shape[BEST]
    for e in range(shape[ENTRIES]):
        items[entry_item[e], LIST] = -1
    for n in range(n_best):
        items[items[n, NUMBER], LIST] = n
    ranks[: n_best * n_lists] = 0
    for l in range(n_lists):
        for e in range(ptr[l], ptr[l + 1]):
            n = items[entry_item[e], LIST]
            if n >= 0:
                ranks[n * n_lists + l] = e - ptr[l] + 1
