"""Arithmetic on ragged arrays: ``ptr[i]:ptr[i+1]`` are the children of parent ``i``."""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries

SHORT = 128  # up to this many values, comparing all pairs is faster than a general sort


def sizes_to_ptr(sizes):
    """Offsets from the number of children of each parent."""
    ptr = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=ptr[1:])
    return ptr


def children(ptr, parents):
    """The flat positions of the children of ``parents``, in that order."""
    sizes = ptr[parents + 1] - ptr[parents]
    starts = np.repeat(ptr[parents] - sizes_to_ptr(sizes)[:-1], sizes)
    return starts + np.arange(len(starts))


def parents(ptr):
    """The parent of each child."""
    return np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))


@over_queries
def descending_order(first, last, ptr, values, out):
    """The positions of the values of each query from largest to smallest, NaN last; equal values keep their order."""
    ahead = np.empty(SHORT, np.int64)
    for q in range(first, last):
        lo, hi = ptr[q], ptr[q + 1]
        if hi - lo <= SHORT and count_ahead(values[lo:hi], ahead):
            for i in range(lo, hi):
                out[lo + ahead[i - lo]] = i
        else:
            digit_order(values[lo:hi], out[lo:hi])
            for i in range(lo, hi):
                out[i] += lo


@kernel
def count_ahead(values, out):
    """The number of values that are larger than each, or equal and before it; False if there is a NaN.

    All pairs are compared, vectorised and without branches; mispredicted branches make sorting slow.
    """
    numbers = True
    for i in range(len(values)):
        value, smaller = values[i], 0
        for j in range(i):
            less = values[j] < value
            out[j] += less
            smaller += less
        out[i] = i - smaller
        numbers &= value == value
    return numbers


@kernel
def digit_order(values, out):
    """As ``descending_order``, for one query: a stable sort by each byte of the numbers, lowest first.

    It has no branches that depend on the values and takes a third of the time of a merge sort.
    """
    n = len(values)
    number, other_key, other = np.empty(n), np.empty(n, np.uint64), np.empty(n, np.int64)
    key, order, count = number.view(np.uint64), out, np.zeros((8, 256), np.int64)
    for i in range(n):
        order[i], number[i] = i, values[i] + 0.0  # there are two zeros
        if values[i] != values[i]:
            key[i] = ~np.uint64(0)
        elif key[i] >> np.uint64(63) == np.uint64(0):  # more is better, of positive numbers; below 0 less is
            key[i] = ~key[i] & ~(np.uint64(1) << np.uint64(63))
        for digit in range(8):
            count[digit, (key[i] >> np.uint64(8 * digit)) & np.uint64(255)] += 1
    for digit in range(8):
        place, here = 0, count[digit]
        if here[(key[0] >> np.uint64(8 * digit)) & np.uint64(255)] == n:
            continue
        for d in range(256):
            place, here[d] = place + here[d], place
        for i in range(n):
            d = (key[i] >> np.uint64(8 * digit)) & np.uint64(255)
            other_key[here[d]], other[here[d]] = key[i], order[i]
            here[d] += 1
        key, other_key, order, other = other_key, key, other, order
    for i in range(n):
        out[i] = order[i]


@over_queries
def put_last(first, last, ptr, silent, out):
    """Give the ``silent`` slots of each query a score one below the lowest of the others."""
    for q in range(first, last):
        lowest = np.inf
        for s in range(ptr[q], ptr[q + 1]):
            if not silent[s]:
                lowest = min(lowest, out[s])
        for s in range(ptr[q], ptr[q + 1]):
            if silent[s]:
                out[s] = lowest - 1.0 if lowest < np.inf else 0.0
