"""Values of rankings: gains by place, and agreement with a reference ranking."""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries


@over_queries
def discounted_gain(first, last, ptr, gain, discount, out):
    """Sum of gain × discount over the first ``len(discount)`` places of each query."""
    for q in range(first, last):
        total = 0.0
        for i in range(min(ptr[q + 1] - ptr[q], len(discount))):
            total += gain[ptr[q] + i] * discount[i]
        out[q] = total


@over_queries
def precision_sum(first, last, ptr, relevant, depth, out):
    """Sum of the precision at each relevant place within ``depth``."""
    for q in range(first, last):
        total, found = 0.0, 0.0
        for i in range(min(ptr[q + 1] - ptr[q], depth)):
            if relevant[ptr[q] + i] > 0:
                found += 1.0
                total += found / (i + 1)
        out[q] = total


@over_queries
def reciprocal_first(first, last, ptr, relevant, depth, out):
    """1 / the first relevant place within ``depth``, or 0."""
    for q in range(first, last):
        out[q] = 0.0
        for i in range(min(ptr[q + 1] - ptr[q], depth)):
            if relevant[ptr[q] + i] > 0:
                out[q] = 1.0 / (i + 1)
                break


@over_queries
def cascade(first, last, ptr, stop, depth, out):
    """Expected 1 / place where a reader stops who stops at each item with probability ``stop``."""
    for q in range(first, last):
        total, reading = 0.0, 1.0
        for i in range(min(ptr[q + 1] - ptr[q], depth)):
            total += reading * stop[ptr[q] + i] / (i + 1)
            reading *= 1.0 - stop[ptr[q] + i]
        out[q] = total


@over_queries
def mean_places(first, last, ptr, values, out):
    """The place of each value in its query, 1 is the largest; equal values share the mean of their places."""
    for q in range(first, last):
        lo, n = ptr[q], ptr[q + 1] - ptr[q]
        order = np.argsort(-values[lo : lo + n], kind="mergesort")
        i = 0
        while i < n:
            end = i + 1
            while end < n and values[lo + order[end]] == values[lo + order[i]]:
                end += 1
            for t in range(i, end):
                out[lo + order[t]] = 0.5 * (i + 1 + end)
            i = end


@over_queries
def correlation(first, last, ptr, x, y, out):
    """Pearson's r of x and y in each query; 0 if one of them is constant."""
    for q in range(first, last):
        lo, hi = ptr[q], ptr[q + 1]
        a, b = x[lo:hi] - x[lo:hi].sum() / max(hi - lo, 1), y[lo:hi] - y[lo:hi].sum() / max(hi - lo, 1)
        xx, yy, xy = (a * a).sum(), (b * b).sum(), (a * b).sum()
        out[q] = xy / np.sqrt(xx * yy) if xx > 0.0 and yy > 0.0 else 0.0


@over_queries
def distance(first, last, ptr, x, y, out):
    """Sum of |x - y| in each query."""
    for q in range(first, last):
        total = 0.0
        for s in range(ptr[q], ptr[q + 1]):
            total += abs(x[s] - y[s])
        out[q] = total


@kernel
def tied_pairs(values):
    """How many pairs of sorted values are equal."""
    pairs, run = 0.0, 0
    for i in range(1, len(values)):
        run = run + 1 if values[i] == values[i - 1] else 0
        pairs += run
    return pairs


@kernel
def inversions(values):
    """How many pairs i < j have values[i] > values[j], by merging (Knight 1966); sorts ``values``."""
    n, width, swaps = len(values), 1, 0.0
    merged = np.empty(n)
    while width < n:
        for lo in range(0, n, 2 * width):
            mid, hi = min(lo + width, n), min(lo + 2 * width, n)
            i, j = lo, mid
            for t in range(lo, hi):
                if i < mid and (j >= hi or values[i] <= values[j]):
                    merged[t] = values[i]
                    i += 1
                else:
                    merged[t] = values[j]
                    swaps += mid - i
                    j += 1
        values[:] = merged
        width *= 2
    return swaps


@over_queries
def pair_counts(first, last, ptr, x, y, out):
    """Of the pairs in each query: concordant minus discordant, all, tied in x, tied in y."""
    for q in range(first, last):
        a, b = x[ptr[q] : ptr[q + 1]], y[ptr[q] : ptr[q + 1]]
        by_y = np.argsort(b, kind="mergesort")
        order = by_y[np.argsort(a[by_y], kind="mergesort")]
        a, b = a[order], b[order]
        both, run = 0.0, 0
        for i in range(1, len(a)):
            run = run + 1 if a[i] == a[i - 1] and b[i] == b[i - 1] else 0
            both += run
        tied_x, discordant = tied_pairs(a), inversions(b)
        tied_y = tied_pairs(b)
        pairs = 0.5 * len(a) * (len(a) - 1)
        out[q, 0] = pairs - tied_x - tied_y + both - 2.0 * discordant
        out[q, 1], out[q, 2], out[q, 3] = pairs, tied_x, tied_y


@over_queries
def overlap(first, last, ptr, truth, ideal_ptr, ideal, p, out):
    """Extrapolated rank-biased overlap of each query (Webber et al. 2010, eq. 32); items tied in the reference
    are in its first d places with the probability that a random order of them would give."""
    for q in range(first, last):
        lo, n = ptr[q], ptr[q + 1] - ptr[q]
        reference = -ideal[ideal_ptr[q] : ideal_ptr[q + 1]]
        m = len(reference)
        short, long = min(n, m), max(n, m)
        seen = np.zeros(m)  # of each group of ties, known by its first place: its items met so far
        start, complete = 0, 0
        common, at_short, total, weight = 0.0, 0.0, 0.0, 1.0
        x = 0.0
        for d in range(1, long + 1):
            if d <= n and not np.isnan(truth[lo + d - 1]):
                group = np.searchsorted(reference, -truth[lo + d - 1], side="left")
                seen[group] += 1.0
                if group < complete:
                    common += 1.0
            x = common
            if d <= m:
                end = np.searchsorted(reference, reference[start], side="right")
                x = common + seen[start] * (d - start) / (end - start)
                if d == end:
                    common += seen[start]
                    start, complete = end, end
            weight *= p
            total += x / d * weight
            if d == short:
                at_short = x
            if d > short and short > 0:
                total += at_short * (d - short) / (short * d) * weight
        out[q] = 0.0
        if short > 0:
            out[q] = (1.0 - p) / p * total + ((x - at_short) / long + at_short / short) * weight
