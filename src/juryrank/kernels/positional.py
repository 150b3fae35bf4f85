"""Scores from places and ranks, and scaling of the scores of each list. Entries of a list are in the order of ranks."""

import cython
import numpy as np

from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.elements import Float, Int, Int32
    from juryrank.kernels.ragged import longest, merge_sort, number_key

# Values held at once when lists are spread over the items of a query: 32 MB.
TABLE_SIZE = cython.declare(cython.longlong, 4_000_000)
LARGE = 1e100  # numbers up to this, and down to its inverse, can be squared and summed
INFINITY = cython.declare(cython.double, float("inf"))
NAN = cython.declare(cython.double, float("nan"))


@over_queries
def places(
    first: cython.longlong, last: cython.longlong, list_ptr: Int[::1], entry_ptr: Int[::1], entry_rank: Float[::1],
    out: cython.double[::1]
):  # fmt: skip
    """The place of each entry in its list, 1 is best; tied entries share the mean of their places."""
    with cython.nogil:
        for m in range(list_ptr[first], list_ptr[last]):
            place, before = 0.0, 0.0  # ranks are above 0
            tied: cython.bint = False
            for e in range(entry_ptr[m], entry_ptr[m + 1]):
                place += 1.0
                out[e] = place
                tied |= entry_rank[e] == before
                before = entry_rank[e]
            if tied:
                share_places(entry_ptr[m], entry_ptr[m + 1], entry_rank, out)


def share_places(first, last, rank, out):
    """The places of the entries first:last, one list with ties."""
    start = first
    while start < last:
        end = start + 1
        while end < last and rank[end] == rank[start]:
            end += 1
        for e in range(start, end):
            out[e] = 0.5 * (start + 1 + end - 2 * first)
        start = end


@over_queries
def add_points(
    first: cython.longlong, last: cython.longlong, slot_ptr: Int[::1], list_ptr: Int[::1], entry_ptr: Int[::1],
    entry_slot: Int32[::1], entry_points: Float[::1], list_absent: Float[::1], list_weight: Float[::1],
    out: cython.double[::1]
):  # fmt: skip
    """Weighted sum of the points of each slot; a list gives ``list_absent`` points to the slots it does not rank."""
    with cython.nogil:
        for q in range(first, last):
            base = 0.0
            for m in range(list_ptr[q], list_ptr[q + 1]):
                base += list_weight[m] * list_absent[m]
            for s in range(slot_ptr[q], slot_ptr[q + 1]):
                out[s] = base
            for m in range(list_ptr[q], list_ptr[q + 1]):
                for e in range(entry_ptr[m], entry_ptr[m + 1]):
                    out[entry_slot[e]] += list_weight[m] * (entry_points[e] - list_absent[m])


@over_queries
def add_entries(
    first: cython.longlong, last: cython.longlong, list_ptr: Int[::1], entry_ptr: Int[::1], entry_slot: Int32[::1],
    entry_points: Float[::1], out: cython.double[::1]
):  # fmt: skip
    """The sum of the points of each slot, added to ``out``."""
    with cython.nogil:
        for e in range(entry_ptr[list_ptr[first]], entry_ptr[list_ptr[last]]):
            out[entry_slot[e]] += entry_points[e]


@over_queries
def add_reciprocals(
    first: cython.longlong, last: cython.longlong, list_ptr: Int[::1], entry_ptr: Int[::1], entry_slot: Int32[::1],
    entry_rank: Float[::1], k: cython.double, out: cython.double[::1]
):  # fmt: skip
    """``add_entries`` of 1 / (k + rank), without an array of reciprocals: this is limited by memory bandwidth."""
    with cython.nogil:
        for e in range(entry_ptr[list_ptr[first]], entry_ptr[list_ptr[last]]):
            out[entry_slot[e]] += 1.0 / (k + entry_rank[e])


def table_width(n_lists):
    """How many items the table of ``medians`` holds at once."""
    return max(1, TABLE_SIZE // max(n_lists, 1))


@over_queries
def medians(
    first: cython.longlong, last: cython.longlong, slot_ptr: Int[::1], list_ptr: Int[::1], entry_ptr: Int[::1],
    entry_slot: Int32[::1], values: Float[::1], absent: Float[::1], weight: Float[::1], out: cython.double[::1]
):  # fmt: skip
    """Weighted median of the values of each slot; a list gives ``absent`` (NaN: nothing) to the items it leaves out.

    A slot that no list speaks of gets NaN.
    """
    room: cython.longlong = 0
    for q in range(first, last):
        n_lists = list_ptr[q + 1] - list_ptr[q]
        room = max(room, n_lists * min(table_width(n_lists), slot_ptr[q + 1] - slot_ptr[q]))
    most = longest(first, last, list_ptr)
    table: cython.double[::1] = np.empty(room)
    said: cython.double[::1] = np.empty(most)
    said_weight: cython.double[::1] = np.empty(most)
    keys: cython.longlong[:, ::1] = np.empty((4, most + most // 8), np.int64)
    with cython.nogil:
        for q in range(first, last):
            start, n_lists = list_ptr[q], list_ptr[q + 1] - list_ptr[q]
            lo, stop = slot_ptr[q], slot_ptr[q + 1]
            while lo < stop:
                hi = min(lo + table_width(n_lists), stop)
                for m in range(n_lists):
                    for i in range(hi - lo):
                        table[i * n_lists + m] = absent[start + m]
                    for e in range(entry_ptr[start + m], entry_ptr[start + m + 1]):
                        if lo <= entry_slot[e] < hi:
                            table[(entry_slot[e] - lo) * n_lists + m] = values[e]
                for i in range(hi - lo):
                    n: cython.longlong = 0
                    for m in range(n_lists):
                        value = table[i * n_lists + m]
                        if value == value:
                            said[n], said_weight[n], keys[1, n] = value, weight[start + m], number_key(value)
                            n += 1
                    out[lo + i] = weighted_median(n, said, said_weight, keys)
                lo = hi


def weighted_median(n, values, weights, keys):
    """The value with half of the weight on either side; the mean of two values if the weight divides evenly.

    NaN without values. ``keys`` of the values are as ``merge_sort`` takes them.
    """
    if n == 0:
        return NAN
    order = 2 + merge_sort(n, keys)
    total: cython.double = 0.0
    passed: cython.double = 0.0
    for i in range(n):
        total += weights[i]
    half = 0.5 * total
    for t in range(n):
        value = values[keys[order, t]]
        passed += weights[keys[order, t]]
        if abs(passed - half) <= 1e-12 * half and t + 1 < n:
            return 0.5 * (value + values[keys[order, t + 1]])
        if passed > half:
            return value
    return values[keys[order, n - 1]]


@over_queries
def extremes(
    first: cython.longlong, last: cython.longlong, slot_ptr: Int[::1], list_ptr: Int[::1], entry_ptr: Int[::1],
    entry_slot: Int32[::1], values: Float[::1], absent: Float[::1], sign: cython.double, out: cython.double[::1]
):  # fmt: skip
    """The highest (``sign`` 1) or lowest (-1) value of each slot; ``absent`` as in ``medians``."""
    ranked_in: cython.longlong[::1] = np.empty(longest(first, last, slot_ptr), np.int64)
    with cython.nogil:
        for q in range(first, last):
            lo, hi = slot_ptr[q], slot_ptr[q + 1]
            for s in range(lo, hi):
                out[s], ranked_in[s - lo] = -INFINITY, -1
            for m in range(list_ptr[q], list_ptr[q + 1]):
                for e in range(entry_ptr[m], entry_ptr[m + 1]):
                    out[entry_slot[e]] = max(out[entry_slot[e]], sign * values[e])
                    ranked_in[entry_slot[e] - lo] = m
                if absent[m] == absent[m]:
                    for s in range(lo, hi):
                        if ranked_in[s - lo] != m:
                            out[s] = max(out[s], sign * absent[m])
            for s in range(lo, hi):
                out[s] *= sign


def scaling_exponents(largest):
    """Powers of 2 that bring numbers of these sizes near 1, or 0 if they can be squared and summed without scaling.

    Multiplication by a power of 2 changes no digit.
    """
    _, power = np.frexp(largest)
    return np.where((largest > LARGE) | ((largest < 1 / LARGE) & (largest > 0)), -power, 0)


@over_queries
def score_ranges(
    first: cython.longlong, last: cython.longlong, list_ptr: Int[::1], entry_ptr: Int[::1], score: Float[::1],
    low: cython.double[::1], high: cython.double[::1]
):  # fmt: skip
    """The lowest and the highest score of each list."""
    with cython.nogil:
        for m in range(list_ptr[first], list_ptr[last]):
            lowest, highest = INFINITY, -INFINITY
            for e in range(entry_ptr[m], entry_ptr[m + 1]):
                lowest, highest = min(lowest, score[e]), max(highest, score[e])
            low[m], high[m] = lowest, highest


@over_queries
def rescale(
    first: cython.longlong, last: cython.longlong, list_ptr: Int[::1], entry_ptr: Int[::1], score: Float[::1],
    origin: Float[::1], width: Float[::1], flat: Float[::1], out: cython.double[::1]
):  # fmt: skip
    """out = (score - origin) / width by list, or ``flat`` in lists whose width is 0."""
    with cython.nogil:
        for m in range(list_ptr[first], list_ptr[last]):
            start, size = origin[m], width[m]
            for e in range(entry_ptr[m], entry_ptr[m + 1]):
                out[e] = (score[e] - start) / size if size > 0.0 else flat[m]
