"""Values of rankings: gains by place, and agreement with a reference ranking."""

import cython
import numpy as np
from cython.cimports.libc.math import fabs, sqrt

from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.elements import Float, Int
    from juryrank.kernels.ragged import longest, merge_sort, number_key


@over_queries
def discounted_gain(
    first: cython.longlong, last: cython.longlong, ptr: Int[::1], gain: Float[::1], discount: Float[::1],
    out: cython.double[::1]
):  # fmt: skip
    """Sum of gain × discount over the first ``len(discount)`` places of each query."""
    with cython.nogil:
        for q in range(first, last):
            total = 0.0
            for i in range(min(ptr[q + 1] - ptr[q], discount.shape[0])):
                total += gain[ptr[q] + i] * discount[i]
            out[q] = total


@over_queries
def precision_sum(
    first: cython.longlong, last: cython.longlong, ptr: Int[::1], relevant: Float[::1], depth: cython.longlong,
    out: cython.double[::1]
):  # fmt: skip
    """Sum of the precision at each relevant place within ``depth``."""
    with cython.nogil:
        for q in range(first, last):
            total, found = 0.0, 0.0
            for i in range(min(ptr[q + 1] - ptr[q], depth)):
                if relevant[ptr[q] + i] > 0:
                    found += 1.0
                    total += found / (i + 1)
            out[q] = total


@over_queries
def reciprocal_first(
    first: cython.longlong, last: cython.longlong, ptr: Int[::1], relevant: Float[::1], depth: cython.longlong,
    out: cython.double[::1]
):  # fmt: skip
    """1 / the first relevant place within ``depth``, or 0."""
    with cython.nogil:
        for q in range(first, last):
            out[q] = 0.0
            for i in range(min(ptr[q + 1] - ptr[q], depth)):
                if relevant[ptr[q] + i] > 0:
                    out[q] = 1.0 / (i + 1)
                    break


@over_queries
def cascade(
    first: cython.longlong, last: cython.longlong, ptr: Int[::1], stop: Float[::1], depth: cython.longlong,
    out: cython.double[::1]
):  # fmt: skip
    """Expected 1 / place where a reader stops who stops at each item with probability ``stop``."""
    with cython.nogil:
        for q in range(first, last):
            total, reading = 0.0, 1.0
            for i in range(min(ptr[q + 1] - ptr[q], depth)):
                total += reading * stop[ptr[q] + i] / (i + 1)
                reading *= 1.0 - stop[ptr[q] + i]
            out[q] = total


@over_queries
def mean_places(
    first: cython.longlong, last: cython.longlong, ptr: Int[::1], values: Float[::1], out: cython.double[::1]
):
    """The place of each value in its query, 1 is the largest; equal values share the mean of their places."""
    most = longest(first, last, ptr)
    table: cython.longlong[:, ::1] = np.empty((4, most + most // 8), np.int64)
    with cython.nogil:
        for q in range(first, last):
            lo, n = ptr[q], ptr[q + 1] - ptr[q]
            for i in range(n):
                table[1, i] = number_key(-values[lo + i])
            order = 2 + merge_sort(n, table)
            start: cython.longlong = 0
            while start < n:
                end = start + 1
                while end < n and values[lo + table[order, end]] == values[lo + table[order, start]]:
                    end += 1
                for t in range(start, end):
                    out[lo + table[order, t]] = 0.5 * (start + 1 + end)
                start = end


@over_queries
def correlation(
    first: cython.longlong, last: cython.longlong, ptr: Int[::1], x: Float[::1], y: Float[::1],
    out: cython.double[::1]
):  # fmt: skip
    """Pearson's r of x and y in each query; 0 if one of them is constant."""
    with cython.nogil:
        for q in range(first, last):
            lo, hi = ptr[q], ptr[q + 1]
            x_mean, y_mean, xx, yy, xy = 0.0, 0.0, 0.0, 0.0, 0.0
            for s in range(lo, hi):
                x_mean += x[s]
                y_mean += y[s]
            x_mean /= max(hi - lo, 1)
            y_mean /= max(hi - lo, 1)
            for s in range(lo, hi):
                a, b = x[s] - x_mean, y[s] - y_mean
                xx += a * a
                yy += b * b
                xy += a * b
            out[q] = xy / sqrt(xx * yy) if xx > 0.0 and yy > 0.0 else 0.0


@over_queries
def distance(
    first: cython.longlong, last: cython.longlong, ptr: Int[::1], x: Float[::1], y: Float[::1],
    out: cython.double[::1]
):  # fmt: skip
    """Sum of |x - y| in each query."""
    with cython.nogil:
        for q in range(first, last):
            total = 0.0
            for s in range(ptr[q], ptr[q + 1]):
                total += fabs(x[s] - y[s])
            out[q] = total


def tied_pairs(n, values):
    """How many pairs of n sorted values are equal."""
    pairs, run = 0.0, 0
    for i in range(1, n):
        run = run + 1 if values[i] == values[i - 1] else 0
        pairs += run
    return pairs


def inversions(n, values, merged):
    """How many pairs i < j of n have values[i] > values[j], by merging (Knight 1966); sorts ``values``."""
    width: cython.longlong = 1
    swaps: cython.longlong = 0
    while width < n:
        lo: cython.longlong = 0
        while lo < n:
            mid, hi = min(lo + width, n), min(lo + 2 * width, n)
            i, j, t = lo, mid, lo
            while i < mid and j < hi:
                falls: cython.longlong = not values[i] <= values[j]
                merged[t] = values[i + falls * (j - i)]  # without a branch, which would be mispredicted
                swaps += falls * (mid - i)
                i += 1 - falls
                j += falls
                t += 1
            while i < mid:
                merged[t] = values[i]
                i += 1
                t += 1
            for i in range(lo, t):
                values[i] = merged[i]  # those from t on are in place
            lo = hi
        width *= 2
    return swaps


@over_queries
def pair_counts(
    first: cython.longlong, last: cython.longlong, ptr: Int[::1], x: Float[::1], y: Float[::1],
    out: cython.double[:, ::1]
):  # fmt: skip
    """Of the pairs in each query: concordant minus discordant, all, tied in x, tied in y."""
    most = longest(first, last, ptr)
    table: cython.longlong[:, ::1] = np.empty((4, most + most // 8), np.int64)
    by_y: cython.longlong[::1] = np.empty(most, np.int64)
    a: cython.double[::1] = np.empty(most)
    b: cython.double[::1] = np.empty(most)
    merged: cython.double[::1] = np.empty(most)
    with cython.nogil:
        for q in range(first, last):
            lo, n = ptr[q], ptr[q + 1] - ptr[q]
            for i in range(n):
                table[1, i] = number_key(y[lo + i])
            order = 2 + merge_sort(n, table)
            for i in range(n):
                by_y[i] = lo + table[order, i]
                table[1, i] = number_key(x[by_y[i]])
            order = 2 + merge_sort(n, table)
            both, run = 0.0, 0
            for i in range(n):
                at = by_y[table[order, i]]
                a[i], b[i] = x[at], y[at]
                run = run + 1 if i > 0 and a[i] == a[i - 1] and b[i] == b[i - 1] else 0
                both += run
            tied_x, discordant = tied_pairs(n, a), inversions(n, b, merged)
            tied_y = tied_pairs(n, b)
            pairs = 0.5 * n * (n - 1)
            out[q, 0] = pairs - tied_x - tied_y + both - 2.0 * discordant
            out[q, 1], out[q, 2], out[q, 3] = pairs, tied_x, tied_y


@over_queries
def overlap(
    first: cython.longlong, last: cython.longlong, ptr: Int[::1], truth: Float[::1], ideal_ptr: Int[::1],
    ideal: Float[::1], p: cython.double, out: cython.double[::1]
):  # fmt: skip
    """Extrapolated rank-biased overlap of each query (Webber et al. 2010, eq. 32); items tied in the reference
    are in its first d places with the probability that a random order of them would give."""
    # Of each group of ties, known by its first place: its items met so far.
    seen: cython.double[::1] = np.empty(longest(first, last, ideal_ptr) + 1)
    with cython.nogil:
        for q in range(first, last):
            lo, n = ptr[q], ptr[q + 1] - ptr[q]
            top, m = ideal_ptr[q], ideal_ptr[q + 1] - ideal_ptr[q]
            short, long = min(n, m), max(n, m)
            for i in range(m):
                seen[i] = 0.0
            start, end = 0, 0  # of the group of the reference's place d; all before it are complete
            common, at_short, total, weight, x = 0.0, 0.0, 0.0, 1.0, 0.0
            for d in range(1, long + 1):
                if d <= n and truth[lo + d - 1] == truth[lo + d - 1]:
                    group = first_place(truth[lo + d - 1], top, m, ideal)
                    seen[group] += 1.0
                    if group < start:
                        common += 1.0
                x = common
                if d <= m:
                    while end < m and ideal[top + end] == ideal[top + start]:
                        end += 1
                    x = common + seen[start] * (d - start) / (end - start)
                    if d == end:
                        common += seen[start]
                        start = end
                weight *= p
                total += x / d * weight
                if d == short:
                    at_short = x
                if d > short and short > 0:
                    total += at_short * (d - short) / (short * d) * weight
            out[q] = 0.0
            if short > 0:
                out[q] = (1.0 - p) / p * total + ((x - at_short) / long + at_short / short) * weight


def first_place(value, top, m, ideal):
    """The first of the m places from ``top``, counted from 0, whose value is at most ``value``; the values fall."""
    lo, hi = cython.cast(cython.longlong, 0), m
    while lo < hi:
        mid = (lo + hi) // 2
        if ideal[top + mid] > value:
            lo = mid + 1
        else:
            hi = mid
    return lo
