"""First singular vectors of the preferences of one list, over its groups of ties: sums along the list, no matrix."""

import numpy as np

from juryrank.kernels.jit import kernel
from juryrank.kernels.wins import BINARY, scale_of

FINEST = 1e-15  # squared changes of a vector of length 1 that rounding hides when they are taken from an angle


@kernel
def tie_groups(rank, group_rank, size):
    """The distinct ranks of a list and how many items have each; their number."""
    n = 0
    for e in range(len(rank)):
        if e == 0 or rank[e] != rank[e - 1]:
            group_rank[n] = rank[e]
            size[n] = 0.0
            n += 1
        size[n - 1] += 1.0
    return n


@kernel
def equal_group_vectors(size, u, v):
    """Binary preferences between groups of the same size, in closed form: a cosine and a sine."""
    n = len(u)
    angle = np.pi / (2 * n - 1)
    length = np.sqrt((2 * n - 1) * size / 4.0)
    for a in range(n):
        u[a] = np.cos((2 * a + 1) * angle / 2) / length
        v[a] = np.sin(a * angle) / length
    u[n - 1] = 0.0


@kernel
def times_groups(gap, size, binary, x, y):
    """y = Y x, where all items of a group have the same value; the length of y, over all items."""
    reach, below, square = 0.0, 0.0, 0.0
    for a in range(len(x) - 1, -1, -1):
        reach = below if binary else reach + gap[a] * below
        y[a] = reach
        square += size[a] * reach * reach
        below += size[a] * x[a]
    return np.sqrt(square)


@kernel
def transposed_times_groups(gap, size, binary, x, y, z):
    """z = Yᵀ y; its length, and its inner product with x."""
    reach, above, square, inner = 0.0, 0.0, 0.0, 0.0
    for a in range(len(y)):
        reach = above if binary else reach + (gap[a - 1] * above if a > 0 else 0.0)
        z[a] = reach
        square += size[a] * reach * reach
        inner += size[a] * reach * x[a]
        above += size[a] * y[a]
    return np.sqrt(square), inner


@kernel
def initial_vector(gap, size, binary, x):
    """An initial right vector of length 1: a sine or a parabola of the position of each group in the list."""
    square, below = 0.0, 0.0
    end = size.sum() if binary else gap[:-1].sum()
    for a in range(len(x)):
        if binary:
            x[a] = np.sin((below + size[a] / 2) / end * np.pi / 2)
            below += size[a]
        else:
            x[a] = below * (below + end)
            below += gap[a]
        square += size[a] * x[a] * x[a]
    if square > 0.0:
        x /= np.sqrt(square)


@kernel
def power_iteration(gap, size, binary, tol, max_iter, u, v, z):
    """Power iteration until the remaining steps, which shrink by a constant factor, add up to about ``tol``."""
    initial_vector(gap, size, binary, v)
    before = 0.0
    taken = -1
    for step in range(1, max_iter + 1):
        times_groups(gap, size, binary, v, u)
        length, inner = transposed_times_groups(gap, size, binary, v, u, z)
        if length == 0.0:
            u[:], v[:] = 0.0, 0.0
            return 0
        change = np.sqrt(max(FINEST, 2.0 - 2.0 * inner / length))
        v[:] = z / length
        if change * change <= max(FINEST, tol * (before - change)):
            taken = step
            break
        before = change
    length = times_groups(gap, size, binary, v, u)
    u /= length
    return taken


@kernel
def first_vectors(rank, form, tol, max_iter, work, out):
    """out[e] = (u, v) of the item at ``e``; returns the steps, or -1 without convergence. ``work`` has six rows."""
    m = len(rank)
    n = tie_groups(rank, work[0], work[1])
    if n < 2:
        out[:m] = 0.0
        return 0
    group_rank, size, gap, u, v, z = work[0, :n], work[1, :n], work[2, :n], work[3, :n], work[4, :n], work[5, :n]
    steps = 0
    if form == BINARY and size.min() == size.max():
        equal_group_vectors(size[0], u, v)
    else:
        if form != BINARY:
            scale_of(group_rank, form, gap)
            for a in range(n - 1):
                gap[a] = gap[a + 1] - gap[a]
        steps = power_iteration(gap, size, form == BINARY, tol, max_iter, u, v, z)
    a = -1
    for e in range(m):
        if e == 0 or rank[e] != rank[e - 1]:
            a += 1
        out[e, 0], out[e, 1] = u[a], v[a]
    return steps
