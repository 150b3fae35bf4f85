"""The skew-symmetric matrix of rank 2 that is nearest to the mean preferences of the pairs that lists compare.

The matrix is ``size (u vᵀ - v uᵀ)`` with orthonormal u and v; it is never built. Pairs that no list compares are taken
as 0 with a weight e. A step fills in the unknown pairs with (1 - e) times the last matrix and projects on rank 2 again
(singular value projection), by a few subspace iterations from the last u and v.
"""

import math

import numpy as np

from juryrank.kernels.dense import dot
from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.pairs import count_pairs, mean_leads

INNER = 3  # subspace iterations per step


@kernel
def sparse_times(left, right, rest, x, out):
    """out = the skew-symmetric matrix of the known pairs times x."""
    for i in range(len(out)):
        out[i] = 0.0
    for p in range(len(left)):
        out[left[p]] += rest[p] * x[right[p]]
        out[right[p]] -= rest[p] * x[left[p]]


@kernel
def filled_times(left, right, rest, size, u, v, x, out):
    """out = the filled-in matrix times x: the residual of the known pairs, and the last matrix."""
    sparse_times(left, right, rest, x, out)
    along_u, along_v = dot(u, x), dot(v, x)
    for i in range(len(out)):
        out[i] += size * (u[i] * along_v - v[i] * along_u)


@kernel
def normalise(x, out):
    """out = x divided by its length; False if that is 0."""
    length = math.sqrt(dot(x, x))
    if length == 0.0:
        return False
    for i in range(len(x)):
        out[i] = x[i] / length
    return True


@kernel
def project(left, right, rest, size, u, v, new_u, new_v, image):
    """new_u, new_v and the size of the matrix of rank 2 nearest to the filled-in one; 0 where that is 0."""
    new_u[:] = u
    new_v[:] = v
    for _ in range(INNER):
        filled_times(left, right, rest, size, u, v, new_v, image)
        new_v[:] = new_u
        if not normalise(image, new_u):
            return 0.0
        filled_times(left, right, rest, size, u, v, new_v, image)
        along = dot(new_u, image)
        for i in range(len(u)):
            image[i] = along * new_u[i] - image[i]
        if not normalise(image, new_v):
            return 0.0
    filled_times(left, right, rest, size, u, v, new_v, image)
    return dot(new_u, image)


@kernel
def gradient_norm(left, right, rest, size, unknown, u, v, image):
    """The norm of the gradient in u and v: 0 for the best matrix."""
    sparse_times(left, right, rest, u, image)
    squares = 0.0
    for i in range(len(u)):
        squares += (image[i] + unknown * size * v[i]) ** 2
    sparse_times(left, right, rest, v, image)
    for i in range(len(u)):
        squares += (image[i] - unknown * size * u[i]) ** 2
    return math.sqrt(squares)


@kernel
def complete(left, right, target, unknown, tol, max_iter, out):
    """Row means of the matrix; the number of steps, or max_iter + 1."""
    n = len(out)
    u, v, rest = np.empty(n), np.full(n, 1.0 / math.sqrt(max(n, 1))), target.copy()
    image, new_u, new_v = np.empty(n), np.empty(n), np.empty(n)
    sparse_times(left, right, rest, v, u)
    length, known = math.sqrt(dot(u, u)), math.sqrt(2.0 * dot(target, target))
    if length <= 1e-12 * known or known == 0.0:
        return 0
    u /= length
    size, steps = 0.0, max_iter + 1
    for number in range(max_iter):
        size = project(left, right, rest, (1.0 - unknown) * size, u, v, new_u, new_v, image)
        u[:] = new_u
        v[:] = new_v
        for p in range(len(left)):
            i, j = left[p], right[p]
            rest[p] = target[p] - (1.0 - unknown) * size * (u[i] * v[j] - v[i] * u[j])
        if gradient_norm(left, right, rest, size, unknown, u, v, image) <= tol * known:
            steps = number + 1
            break
    in_u, in_v = u.sum() / n, v.sum() / n
    for i in range(n):
        out[i] = size * (u[i] * in_v - v[i] * in_u)
    return steps


@over_queries
def rank_two(first, last, lists, most, entry_value, by_order, unknown, tol, max_iter, steps, out):
    """The row means of every query's rank-2 matrix of mean preferences, by order or by value."""
    for q in range(first, last):
        left, right, won, lost, tied = count_pairs(q, most[q], lists)
        target = np.empty(len(left))
        if by_order:
            for p in range(len(left)):
                target[p] = (won[p] - lost[p]) / (won[p] + lost[p] + tied[p])
        else:
            pairs = (left, right, won, lost, tied)
            mean_leads(q, pairs, lists, entry_value, target)
        lo, hi = lists.slot_ptr[q], lists.slot_ptr[q + 1]
        steps[q] = complete(left, right, target, unknown, tol, max_iter, out[lo:hi])
