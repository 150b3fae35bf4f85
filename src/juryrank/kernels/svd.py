"""Singular vectors of preference matrices that are never built: products are prefix sums over the lists.

A pool are lists that share a query and a column. Its matrix Y is the weighted sum of theirs, over their items together.
"""

import cython
import numpy as np
from cython.cimports.libc.math import acos, cos, sqrt

from juryrank.kernels.preferences import BINARY, LOG_RANK
from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.dense import dot_first
    from juryrank.kernels.elements import Float, Int, Int32
    from juryrank.kernels.preferences import closed_form, first_vectors, scale_of, tie_groups, times, transposed_times
    from juryrank.kernels.ragged import longest

EXHAUSTED = cython.declare(cython.double, 1e-10)  # a singular value this small relative to the first is rounding
NOISE = cython.declare(cython.double, 1e-3)
# relative difference of sums that count as equal: by symmetry they often are, up to the tolerance
SAME = cython.declare(cython.double, 1e-6)


def orthonormal(n, x, basis, n_basis):
    """Make ``x`` orthogonal to the first rows of ``basis`` and of length 1; its length before, or 0."""
    before = sqrt(dot_first(n, x, x))
    for t in range(n_basis):
        inner: cython.double = 0
        for i in range(n):
            inner += basis[t, i] * x[i]
        for i in range(n):
            x[i] -= inner * basis[t, i]
    length = sqrt(dot_first(n, x, x))
    if length <= 1e-12 * before or before == 0.0:
        return 0.0
    for i in range(n):
        x[i] /= length
    return length


def starting_vector(t, n, n_lists, ptr, scale, binary, weight, at, net, losses, v):
    """A start from the preferences: losses, then cosines of wins minus losses, and a little noise against symmetry."""
    for i in range(n):
        v[i] = 1.0
    times(n, n_lists, ptr, scale, binary, weight, at, v, net)
    transposed_times(n, n_lists, ptr, scale, binary, weight, at, v, losses)
    largest: cython.double = 0
    for i in range(n):
        net[i] -= losses[i]
        largest = max(largest, abs(net[i]))
    for i in range(n):
        if t == 0:
            v[i] = losses[i]
        else:
            v[i] = (cos(t * acos(net[i] / largest)) if largest > 0 else 0.0) + NOISE * cos(i * i + t)


def iterate(n, n_lists, ptr, scale, binary, weight, at, tol, max_iter, x, y, z, u, v):
    """Singular vectors one by one by power iteration; the largest number of steps, or -1 if one did not converge."""
    steps: cython.longlong = 0
    first_value = 0.0
    for t in range(u.shape[0]):
        for i in range(n):
            u[t, i] = v[t, i] = 0.0
    for t in range(u.shape[0]):
        starting_vector(t, n, n_lists, ptr, scale, binary, weight, at, y, z, x)
        orthonormal(n, x, v, t)
        converged: cython.bint = False
        taken: cython.longlong = 0
        while not converged and taken < max_iter:
            taken += 1
            times(n, n_lists, ptr, scale, binary, weight, at, x, y)
            transposed_times(n, n_lists, ptr, scale, binary, weight, at, y, z)
            if orthonormal(n, z, v, t) == 0.0:
                break
            change: cython.double = 0
            for i in range(n):
                change = max(change, abs(z[i] - x[i]))
                x[i] = z[i]
            converged = change < tol
        times(n, n_lists, ptr, scale, binary, weight, at, x, y)
        value = sqrt(dot_first(n, y, y))
        first_value = max(first_value, value)
        if value <= EXHAUSTED * first_value:
            break
        for i in range(n):
            u[t, i], v[t, i] = y[i] / value, x[i]
        steps = max(steps, taken) if converged and steps >= 0 else -1
    return steps


def orient(n, u, v):
    """Choose the sign of each pair of vectors: the larger of their sums is positive, the left one if they are equal."""
    for t in range(u.shape[0]):
        left: cython.double = 0
        right: cython.double = 0
        for i in range(n):
            left += u[t, i]
            right += v[t, i]
        if (right if abs(right) > (1.0 + SAME) * abs(left) else left) < 0:
            for i in range(n):
                u[t, i], v[t, i] = -u[t, i], -v[t, i]


def number_items(lists, ptr, entry_ptr, entry_slot, first_slot, number, at, owner):
    """Number the items of lists: ``at`` of each entry, ``owner`` the first entry of each item; returns how many."""
    n: cython.longlong = 0
    for m in range(lists.shape[0]):
        lo = entry_ptr[lists[m]]
        for e in range(ptr[m], ptr[m + 1]):
            i = entry_slot[lo + e - ptr[m]] - first_slot
            if number[i] < 0:
                number[i], owner[n] = n, lo + e - ptr[m]
                n += 1
            at[e] = number[i]
    return n


@over_queries
def singular_vectors(
    first: cython.longlong, last: cython.longlong, pool_ptr: Int[::1], slot_ptr: Int[::1], member_ptr: Int[::1],
    member: Int[::1], entry_ptr: Int[::1], entry_slot: Int32[::1], entry_rank: Float[::1], list_weight: Float[::1],
    form: cython.longlong, tol: cython.double, max_iter: cython.longlong, steps: cython.longlong[::1],
    out: cython.double[:, :],
):  # fmt: skip
    """out[e] = the item's row of [U, V] of its pool's matrix; an entry that repeats an item of its pool stays NaN.

    ``pool_ptr`` are the pools of each query, ``member_ptr`` the lists of each pool; ``steps`` as in ``iterate``.
    """
    binary: cython.bint = form == BINARY
    logarithmic: cython.bint = form == LOG_RANK
    rank = out.shape[1] // 2
    most: cython.longlong = 1  # entries of a pool
    for p in range(pool_ptr[first], pool_ptr[last]):
        n: cython.longlong = 0
        for m in range(member_ptr[p], member_ptr[p + 1]):
            n += entry_ptr[member[m] + 1] - entry_ptr[member[m]]
        most = max(most, n)
    n_lists = longest(pool_ptr[first], pool_ptr[last], member_ptr)
    ptr: cython.longlong[::1] = np.zeros(n_lists + 1, np.int64)
    weight: cython.double[::1] = np.empty(n_lists)
    number: cython.longlong[::1] = np.full(longest(first, last, slot_ptr), -1, np.int64)
    at: cython.longlong[::1] = np.empty(most, np.int64)
    owner: cython.longlong[::1] = np.empty(most, np.int64)
    scale: cython.double[::1] = np.empty(most)
    x: cython.double[::1] = np.empty(most)
    y: cython.double[::1] = np.empty(most)
    z: cython.double[::1] = np.empty(most)
    u: cython.double[:, ::1] = np.empty((rank, most))
    v: cython.double[:, ::1] = np.empty((rank, most))
    with cython.nogil:
        for q in range(first, last):
            for p in range(pool_ptr[q], pool_ptr[q + 1]):
                lists: Int[::1] = member[member_ptr[p] : member_ptr[p + 1]]
                n_lists = lists.shape[0]
                lo, hi = entry_ptr[lists[0]], entry_ptr[lists[0] + 1]
                if rank == 1 and n_lists == 1 and list_weight[lists[0]] > 0:
                    steps[p] = first_vectors(
                        lo, hi, entry_rank, binary, logarithmic, tol, max_iter, scale, x, y, z, u, v, out
                    )
                    continue
                for m in range(n_lists):
                    lo, hi = entry_ptr[lists[m]], entry_ptr[lists[m] + 1]
                    ptr[m + 1], weight[m] = ptr[m] + hi - lo, list_weight[lists[m]]
                    scale_of(lo, hi, entry_rank, binary, logarithmic, ptr[m], scale)
                n = number_items(lists, ptr, entry_ptr, entry_slot, slot_ptr[q], number, at, owner)
                if binary and n_lists == 1 and tie_groups(lo, hi, entry_rank, x, y) == n:
                    closed_form(n, 1.0, u, v)
                else:
                    steps[p] = iterate(n, n_lists, ptr, scale, binary, weight, at, tol, max_iter, x, y, z, u, v)
                orient(n, u, v)
                for i in range(n):
                    for t in range(rank):
                        out[owner[i], t], out[owner[i], rank + t] = u[t, i], v[t, i]
                    number[entry_slot[owner[i]] - slot_ptr[q]] = -1
