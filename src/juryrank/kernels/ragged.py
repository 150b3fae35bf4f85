"""Arithmetic on ragged arrays: ``ptr[i]:ptr[i+1]`` are the children of parent ``i``."""

import cython
import numpy as np

from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.elements import Byte, Float, Int

    def number_key(x):
        bits = np.float64(x + 0.0).view(np.int64)
        return bits ^ ((bits >> 63) & LAST) if x == x else LAST


SHORT = cython.declare(cython.longlong, 1024)  # up to this many values, merging is faster than sorting by bytes
RUN = cython.declare(cython.longlong, 16)  # values that a merge sort sorts in another way
LAST = cython.declare(cython.longlong, 2**63 - 1)
INFINITY = cython.declare(cython.double, float("inf"))


def sizes_to_ptr(sizes):
    """Offsets from the number of children of each parent."""
    ptr = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=ptr[1:])
    return ptr


def children(ptr, parents):
    """The flat positions of the children of ``parents``, in that order."""
    sizes = ptr[parents + 1] - ptr[parents]
    starts = np.repeat(ptr[parents] - sizes_to_ptr(sizes)[: len(sizes)], sizes)
    return starts + np.arange(len(starts))


def parents(ptr):
    """The parent of each child."""
    return np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))


def longest(first, last, ptr):
    """The largest number of children of the parents first:last, at least 1."""
    most = cython.cast(cython.longlong, 1)
    for q in range(first, last):
        most = max(most, ptr[q + 1] - ptr[q])
    return most


@over_queries
def descending_order(
    first: cython.longlong,
    last: cython.longlong,
    ptr: Int[::1],
    values: Float[::1],
    out: cython.longlong[::1],
):
    """The positions of the values of each query from largest to smallest, NaN last; equal values keep their order."""
    table: cython.longlong[:, ::1] = np.empty((4, longest(first, last, ptr) + SHORT // 8), np.int64)
    count: cython.longlong[:, ::1] = np.empty((8, 256), np.int64)
    with cython.nogil:
        for q in range(first, last):
            lo, n = ptr[q], ptr[q + 1] - ptr[q]
            for i in range(n):
                table[1, i] = number_key(-values[lo + i])
            side = merge_sort(n, table) if n <= SHORT else digit_sort(n, table, count)
            for i in range(n):
                out[lo + i] = lo + table[2 + side, i]


def merge_sort(n, table):
    """Sort the keys table[1, :n], ascending, into row 0 or 1, and their positions into row 2 or 3; returns 0 or 1.

    Equal keys keep their order. No branches depend on the keys: mispredicted ones make sorting slow. Short runs are
    sorted by comparing all pairs. All runs have one length, for which the last is filled up with at most n / 8 keys:
    so two runs can be merged from both ends at once, until the ends meet.
    """
    run, merges = n, 0
    while run > RUN:
        run, merges = (run + 1) // 2, merges + 1
    size = run << merges
    for i in range(n, size):
        table[1, i] = LAST
    lo: cython.longlong = 0
    while lo < size:
        for i in range(lo, lo + run):
            key = table[1, i]
            place: cython.longlong = i
            for j in range(lo, i):
                more: cython.longlong = table[1, j] > key
                table[3, j] += more
                place -= more
            table[3, i] = place
        for i in range(lo, lo + run):
            place = table[3, i]
            table[0, place], table[2, place] = table[1, i], i
        lo += run
    side = 0
    while run < size:
        lo = 0
        while lo < size:
            a, b = lo, lo + run
            last_a, last_b = b - 1, b + run - 1
            end = last_b
            for start in range(lo, lo + run):
                more = table[side, a] > table[side, b]
                i = a + more * (b - a)
                table[1 - side, start], table[3 - side, start] = (
                    table[side, i],
                    table[2 + side, i],
                )
                a += 1 - more
                b += more
                more = table[side, last_a] > table[side, last_b]
                i = last_b - more * (last_b - last_a)
                table[1 - side, end], table[3 - side, end] = (
                    table[side, i],
                    table[2 + side, i],
                )
                last_a -= more
                last_b -= 1 - more
                end -= 1
            lo += 2 * run
        side = 1 - side
        run *= 2
    return side


def digit_sort(n, table, count):
    """As ``merge_sort``, by each byte of the keys, lowest first."""
    for digit in range(8):
        for d in range(256):
            count[digit, d] = 0
    for i in range(n):
        key = table[1, i] ^ (-1 - LAST)  # the sign bit: negative keys are first
        table[1, i], table[3, i] = key, i
        for digit in range(8):
            count[digit, (key >> (8 * digit)) & 255] += 1
    side = 1
    for digit in range(8):
        shift = 8 * digit
        if count[digit, (table[side, 0] >> shift) & 255] == n:
            continue
        place: cython.longlong = 0
        for d in range(256):
            size = count[digit, d]
            count[digit, d] = place
            place += size
        for i in range(n):
            d = (table[side, i] >> shift) & 255
            place = count[digit, d]
            table[1 - side, place], table[3 - side, place] = (
                table[side, i],
                table[2 + side, i],
            )
            count[digit, d] = place + 1
        side = 1 - side
    return side


def count_ahead(values, out):
    """The number of values that are larger than each, or equal and before it; False if there is a NaN.

    All pairs are compared, vectorised and without branches; mispredicted branches make sorting slow.
    """
    numbers: cython.bint = True
    for i in range(values.shape[0]):
        value = values[i]
        smaller: cython.longlong = 0
        for j in range(i):
            less: cython.longlong = values[j] < value
            out[j] += less
            smaller += less
        out[i] = i - smaller
        numbers &= value == value
    return numbers


def stable_order(values, order, spare):
    """Sort the positions ``order`` by their values, ascending, NaN last; positions of equal values keep their order."""
    n = order.shape[0]
    for i in range(n):
        here, at = order[i], i
        while at % RUN > 0 and before(values[here], values[order[at - 1]]):
            order[at] = order[at - 1]
            at -= 1
        order[at] = here
    width = RUN
    while width < n:
        lo: cython.longlong = 0
        while lo < n:
            mid, hi = min(lo + width, n), min(lo + 2 * width, n)
            i, j = lo, mid
            for t in range(lo, hi):
                if i < mid and (j >= hi or not before(values[order[j]], values[order[i]])):
                    spare[t] = order[i]
                    i += 1
                else:
                    spare[t] = order[j]
                    j += 1
            lo = hi
        for t in range(n):
            order[t] = spare[t]
        width *= 2


def before(x, y):
    """Whether x is smaller than y, or y alone is NaN."""
    return x < y or (y != y and x == x)


@over_queries
def put_last(
    first: cython.longlong,
    last: cython.longlong,
    ptr: Int[::1],
    silent: Byte[::1],
    out: cython.double[::1],
):
    """Give the ``silent`` slots of each query a score one below the lowest of the others."""
    with cython.nogil:
        for q in range(first, last):
            lowest = INFINITY
            for s in range(ptr[q], ptr[q + 1]):
                if not silent[s]:
                    lowest = min(lowest, out[s])
            for s in range(ptr[q], ptr[q + 1]):
                if silent[s]:
                    out[s] = lowest - 1.0 if lowest < INFINITY else 0.0
