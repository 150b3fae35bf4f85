"""Pairwise preferences of a list without a matrix: with entries in rank order every product is a prefix sum.

``phi(i, j) > 0`` only where the list ranks i above j. With ``binary`` it is 1, else ``scale[j] - scale[i]``; the
running sums below add differences of neighbours, so nothing cancels and ties give exactly 0. The products with the
matrix and its transpose are two kernels: one kernel for both directions made singular vectors 5 % slower.
"""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries

BINARY, RANK, LOG_RANK = 0, 1, 2


@kernel
def scale_of(rank, form, out):
    """The values whose differences are the preferences: ranks over the list's largest, or the same for log ranks."""
    largest = rank[-1]
    if form == LOG_RANK:
        unit = 1.0 / np.log(largest) if largest > 1.0 else 0.0
        for e in range(len(rank)):
            out[e] = unit * np.log(rank[e])
    else:
        unit = 1.0 / largest if form == RANK else 1.0
        for e in range(len(rank)):
            out[e] = unit * rank[e]


@kernel
def times(scale, binary, weight, at, v, out):
    """out[at[i]] += weight × sum over j of phi(i, j) v[at[j]]."""
    n = len(scale)
    reach, below, tied = 0.0, 0.0, 0.0
    for i in range(n - 1, -1, -1):
        if i < n - 1:
            if not binary:
                reach += (scale[i + 1] - scale[i]) * below
            elif scale[i] != scale[i + 1]:
                reach += tied
                tied = 0.0
        out[at[i]] += weight * reach
        below += v[at[i]]
        tied += v[at[i]]


@kernel
def transposed_times(scale, binary, weight, at, u, out):
    """out[at[j]] += weight × sum over i of phi(i, j) u[at[i]]."""
    reach, above, tied = 0.0, 0.0, 0.0
    for j in range(len(scale)):
        if j > 0:
            if not binary:
                reach += (scale[j] - scale[j - 1]) * above
            elif scale[j] != scale[j - 1]:
                reach += tied
                tied = 0.0
        out[at[j]] += weight * reach
        above += u[at[j]]
        tied += u[at[j]]


@over_queries
def wins_and_losses(first, last, list_ptr, entry_ptr, entry_rank, form, out):
    """out[e] = (W, L): the sum of phi(e, j), and of phi(j, e), over the entries j of the list."""
    for m in range(list_ptr[first], list_ptr[last]):
        lo, hi = entry_ptr[m], entry_ptr[m + 1]
        scale, at, ones = np.empty(hi - lo), np.arange(hi - lo), np.ones(hi - lo)
        scale_of(entry_rank[lo:hi], form, scale)
        out[lo:hi] = 0.0
        times(scale, form == BINARY, 1.0, at, ones, out[lo:hi, 0])
        transposed_times(scale, form == BINARY, 1.0, at, ones, out[lo:hi, 1])
