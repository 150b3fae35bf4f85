"""Pairwise preferences of lists without their matrices Y: with entries in rank order every product is a prefix sum.

``phi(i, j) > 0`` only where the list ranks i above j. With ``binary`` it is 1, else ``scale[j] - scale[i]``; the
running sums below add differences of neighbours, so nothing cancels and ties give exactly 0. The first singular vectors
of one list are found over its groups of ties.
"""

import cython
import numpy as np
from cython.cimports.libc.math import cos, log, sin, sqrt

from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.elements import Float, Int
    from juryrank.kernels.ragged import longest

BINARY, RANK, LOG_RANK = 0, 1, 2

PI = cython.declare(cython.double, np.pi)
# squared changes of a vector of length 1 that rounding hides when they are taken from an angle
FINEST = cython.declare(cython.double, 1e-15)


def scale_of(lo, hi, rank, binary, logarithmic, at, out):
    """From ``at`` on, values whose differences are preferences: ranks over the list's largest, or such log ranks."""
    unit = 1.0
    if hi > lo and logarithmic:
        unit = 1.0 / log(rank[hi - 1]) if rank[hi - 1] > 1.0 else 0.0
    elif hi > lo and not binary:
        unit = 1.0 / rank[hi - 1]
    for e in range(lo, hi):
        out[at + e - lo] = unit * (log(rank[e]) if logarithmic else rank[e])


def times(n, n_lists, ptr, scale, binary, weight, at, v, out):
    """Y v, for Y the weighted sum of the lists ``ptr``; ``at`` numbers their n items together.

    That is at at[i] the sum over lists of weight × sum over j of phi(i, j) v[at[j]].
    """
    for i in range(n):
        out[i] = 0.0
    for m in range(n_lists):
        lo, hi = ptr[m], ptr[m + 1]
        reach, below, tied = 0.0, 0.0, 0.0
        for i in range(hi - 1, lo - 1, -1):
            if i < hi - 1:
                if not binary:
                    reach += (scale[i + 1] - scale[i]) * below
                elif scale[i] != scale[i + 1]:
                    reach += tied
                    tied = 0.0
            out[at[i]] += weight[m] * reach
            below += v[at[i]]
            tied += v[at[i]]


def transposed_times(n, n_lists, ptr, scale, binary, weight, at, u, out):
    """Yᵀ u: at at[j] the sum over lists of weight × sum over i of phi(i, j) u[at[i]]."""
    for j in range(n):
        out[j] = 0.0
    for m in range(n_lists):
        lo, hi = ptr[m], ptr[m + 1]
        reach, above, tied = 0.0, 0.0, 0.0
        for j in range(lo, hi):
            if j > lo:
                if not binary:
                    reach += (scale[j] - scale[j - 1]) * above
                elif scale[j] != scale[j - 1]:
                    reach += tied
                    tied = 0.0
            out[at[j]] += weight[m] * reach
            above += u[at[j]]
            tied += u[at[j]]


@over_queries
def wins_and_losses(
    first: cython.longlong, last: cython.longlong, list_ptr: Int[::1], entry_ptr: Int[::1], entry_rank: Float[::1],
    form: cython.longlong, out: cython.double[:, :],
):  # fmt: skip
    """out[e] = (W, L): the sum of phi(e, j), and of phi(j, e), over the entries j of the list."""
    binary: cython.bint = form == BINARY
    logarithmic: cython.bint = form == LOG_RANK
    most = longest(list_ptr[first], list_ptr[last], entry_ptr)
    scale: cython.double[::1] = np.empty(most)
    at: cython.longlong[::1] = np.arange(most, dtype=np.int64)
    ones: cython.double[::1] = np.ones(most)
    wins: cython.double[::1] = np.empty(most)
    losses: cython.double[::1] = np.empty(most)
    ptr: cython.longlong[::1] = np.zeros(2, np.int64)
    with cython.nogil:
        for m in range(list_ptr[first], list_ptr[last]):
            lo, n = entry_ptr[m], entry_ptr[m + 1] - entry_ptr[m]
            ptr[1] = n
            scale_of(lo, lo + n, entry_rank, binary, logarithmic, 0, scale)
            times(n, 1, ptr, scale, binary, ones, at, ones, wins)
            transposed_times(n, 1, ptr, scale, binary, ones, at, ones, losses)
            for e in range(n):
                out[lo + e, 0], out[lo + e, 1] = wins[e], losses[e]


def closed_form(n, size, u, v):
    """Rows of singular vectors of binary preferences between n groups of the same size: cosines and sines."""
    length = sqrt(max(2 * n - 1, 1) * size / 4.0)
    for t in range(u.shape[0]):
        angle = (2 * t + 1) * PI / (2 * n - 1)
        for a in range(n):
            u[t, a] = cos((2 * a + 1) * angle / 2) / length if t < n - 1 and a < n - 1 else 0.0
            v[t, a] = sin(a * angle) / length if t < n - 1 else 0.0


def first_vectors(lo, hi, rank, binary, logarithmic, tol, max_iter, group_rank, size, gap, z, u, v, out):
    """out[e] = (u, v) of the item at each entry lo:hi; returns the steps, or -1 without convergence."""
    n = tie_groups(lo, hi, rank, group_rank, size)
    steps: cython.longlong = 0
    same: cython.bint = True
    for a in range(n):
        same = same and size[a] == size[0]
    if n < 2:
        u[0, 0] = v[0, 0] = 0.0
    elif binary and same:
        closed_form(n, size[0], u, v)
    else:
        scale_of(0, n, group_rank, binary, logarithmic, 0, gap)
        for a in range(n - 1):
            gap[a] = gap[a + 1] - gap[a]
        steps = power_iteration(n, gap, size, binary, tol, max_iter, u[0], v[0], z)
    a = -1
    for e in range(lo, hi):
        if e == lo or rank[e] != rank[e - 1]:
            a += 1
        out[e, 0], out[e, 1] = u[0, a], v[0, a]
    return steps


def tie_groups(lo, hi, rank, group_rank, size):
    """The distinct ranks of a list and how many items have each; their number."""
    n: cython.longlong = 0
    for e in range(lo, hi):
        if e == lo or rank[e] != rank[e - 1]:
            group_rank[n], size[n] = rank[e], 0.0
            n += 1
        size[n - 1] += 1.0
    return n


def power_iteration(n, gap, size, binary, tol, max_iter, u, v, z):
    """Power iteration until the remaining steps, which shrink by a constant factor, add up to about ``tol``."""
    initial_vector(n, gap, size, binary, v)
    before = 0.0
    taken: cython.longlong = -1
    for step in range(1, max_iter + 1):
        times_groups(n, gap, size, binary, v, u)
        length, inner = transposed_times_groups(n, gap, size, binary, v, u, z)
        if length == 0.0:
            for a in range(n):
                u[a] = v[a] = 0.0
            return 0
        change = sqrt(max(FINEST, 2.0 - 2.0 * inner / length))
        for a in range(n):
            v[a] = z[a] / length
        if change * change <= max(FINEST, tol * (before - change)):
            taken = step
            break
        before = change
    length = times_groups(n, gap, size, binary, v, u)
    for a in range(n):
        u[a] /= length
    return taken


def initial_vector(n, gap, size, binary, x):
    """An initial right vector of length 1: a sine or a parabola of the position of each group in the list."""
    square, below, end = 0.0, 0.0, 0.0
    for a in range(n if binary else n - 1):
        end += size[a] if binary else gap[a]
    for a in range(n):
        if binary:
            x[a] = sin((below + size[a] / 2) / end * PI / 2)
        else:
            x[a] = below * (below + end)
        below += size[a] if binary else gap[a]
        square += size[a] * x[a] * x[a]
    if square > 0.0:
        length = sqrt(square)
        for a in range(n):
            x[a] /= length


def times_groups(n, gap, size, binary, x, y):
    """y = Y x, where all items of a group have the same value; the length of y, over all items."""
    reach, below, square = 0.0, 0.0, 0.0
    for a in range(n - 1, -1, -1):
        reach = below if binary else reach + gap[a] * below
        y[a] = reach
        square += size[a] * reach * reach
        below += size[a] * x[a]
    return sqrt(square)


def transposed_times_groups(n, gap, size, binary, x, y, z):
    """z = Yᵀ y; its length, and its inner product with x."""
    reach, above, square, inner = 0.0, 0.0, 0.0, 0.0
    for a in range(n):
        reach = above if binary else reach + (gap[a - 1] * above if a > 0 else 0.0)
        z[a] = reach
        square += size[a] * reach * reach
        inner += size[a] * reach * x[a]
        above += size[a] * y[a]
    return sqrt(square), inner
