"""The best order of a few items by dynamic programming over their subsets (Held, Karp, 1962)."""

import numpy as np

from juryrank.kernels.jit import kernel


@kernel
def half_sums(margin, first, count, out):
    """out[s, i]: the sum of margin[j, i] over the items j = first + t whose bit t is set in s."""
    n = len(margin)
    for s in range(1, 1 << count):
        low = 0
        while not (s >> low) & 1:
            low += 1
        for i in range(n):
            out[s, i] = out[s & (s - 1), i] + margin[first + low, i]


@kernel
def subset_order(margin, order):
    """Fill ``order`` so that the sum of margin[i, j] over the pairs with i before j is as large as possible.

    The best order of a set is a best order of all but one of its items, followed by that item. The margins of the
    others over that item add up to two table entries, one for each half of the items.
    """
    n = len(margin)
    n_low = n // 2
    low, high = np.zeros((1 << n_low, n)), np.zeros((1 << (n - n_low), n))
    half_sums(margin, 0, n_low, low)
    half_sums(margin, n_low, n - n_low, high)
    value, last = np.zeros(1 << n), np.zeros(1 << n, np.int8)
    for s in range(1, 1 << n):
        below, above = low[s & ((1 << n_low) - 1)], high[s >> n_low]
        best, best_item = -np.inf, 0
        for i in range(n):
            if (s >> i) & 1:
                total = value[s ^ (1 << i)] + (below[i] + above[i])
                if total > best:
                    best, best_item = total, i
        value[s], last[s] = best, best_item
    s = (1 << n) - 1
    for at in range(n - 1, -1, -1):
        order[at] = last[s]
        s ^= 1 << last[s]
