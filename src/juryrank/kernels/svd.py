"""Singular vectors of preference matrices that are never built: products are prefix sums over the lists."""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.svd_of_list import first_vectors
from juryrank.kernels.wins import BINARY, scale_of, times, transposed_times

EXHAUSTED = 1e-10  # a singular value this small relative to the first is rounding

NOISE = 1e-3
SAME = 1e-6  # relative difference of sums that count as equal: by symmetry they often are, up to the tolerance


@kernel
def closed_form(n, u, v):
    """Singular vectors of the strictly upper triangular matrix of ones over n items: cosines and sines."""
    for t in range(u.shape[1]):
        if t >= n - 1:
            u[:, t], v[:, t] = 0.0, 0.0
            continue
        angle = (2 * t + 1) * np.pi / (2 * n - 1)
        size = np.sqrt((2 * n - 1) / 4.0)
        for i in range(n):
            u[i, t] = np.cos((2 * i + 1) * angle / 2) / size if i < n - 1 else 0.0
            v[i, t] = np.sin(i * angle) / size


@kernel
def apply_all(transpose, ptr, at, scale, weight, binary, x, out):
    """Y x or Yᵀ x for Y the weighted sum of the lists ``ptr``; ``at`` numbers their items together."""
    out[:] = 0.0
    for m in range(len(ptr) - 1):
        lo, hi = ptr[m], ptr[m + 1]
        if transpose:
            transposed_times(scale[lo:hi], binary, weight[m], at[lo:hi], x, out)
        else:
            times(scale[lo:hi], binary, weight[m], at[lo:hi], x, out)


@kernel
def orthonormal(x, basis, n_basis):
    """Make ``x`` orthogonal to the first columns of ``basis`` and of length 1; its length before, or 0."""
    before = np.sqrt((x * x).sum())
    for t in range(n_basis):
        inner = 0.0
        for i in range(len(x)):
            inner += basis[i, t] * x[i]
        for i in range(len(x)):
            x[i] -= inner * basis[i, t]
    length = np.sqrt((x * x).sum())
    if length <= 1e-12 * before or before == 0.0:
        return 0.0
    x /= length
    return length


@kernel
def starting_vector(t, ptr, at, scale, weight, binary, v):
    """A start from the preferences: losses, then cosines of wins minus losses, and a little noise against symmetry."""
    n = len(v)
    net, losses = np.empty(n), np.empty(n)
    apply_all(False, ptr, at, scale, weight, binary, np.ones(n), net)
    apply_all(True, ptr, at, scale, weight, binary, np.ones(n), losses)
    if t == 0:
        v[:] = losses
        return
    net -= losses
    largest = np.abs(net).max()
    for i in range(n):
        v[i] = (np.cos(t * np.arccos(net[i] / largest)) if largest > 0 else 0.0) + NOISE * np.cos(i * i + t)


@kernel
def iterate(ptr, at, scale, weight, binary, tol, max_iter, u, v):
    """Singular vectors one by one by power iteration; the largest number of steps, or -1 if one did not converge."""
    n, steps, first_value = u.shape[0], 0, 0.0
    x, y, z = np.empty(n), np.empty(n), np.empty(n)
    u[:], v[:] = 0.0, 0.0
    for t in range(u.shape[1]):
        starting_vector(t, ptr, at, scale, weight, binary, x)
        orthonormal(x, v, t)
        converged = False
        taken = 0
        while not converged and taken < max_iter:
            taken += 1
            apply_all(False, ptr, at, scale, weight, binary, x, y)
            apply_all(True, ptr, at, scale, weight, binary, y, z)
            if orthonormal(z, v, t) == 0.0:
                break
            converged = np.abs(z - x).max() < tol
            x, z = z, x
        apply_all(False, ptr, at, scale, weight, binary, x, y)
        value = np.sqrt((y * y).sum())
        first_value = max(first_value, value)
        if value <= EXHAUSTED * first_value:
            break
        u[:, t], v[:, t] = y / value, x
        steps = max(steps, taken) if converged and steps >= 0 else -1
    return steps


@kernel
def orient(u, v):
    """Choose the sign of each pair of vectors: the larger of their sums is positive, the left one if they are equal."""
    for t in range(u.shape[1]):
        left, right = u[:, t].sum(), v[:, t].sum()
        if (right if abs(right) > (1.0 + SAME) * abs(left) else left) < 0:
            u[:, t], v[:, t] = -u[:, t], -v[:, t]


@kernel
def has_no_ties(rank):
    """Whether no two neighbours are equal."""
    apart = True
    for e in range(1, len(rank)):
        apart = apart and rank[e] != rank[e - 1]
    return apart


@kernel
def number_items(lists, ptr, entry_ptr, entry_slot, first_slot, number, at, owner):
    """Number the items of lists: ``at`` of each entry, ``owner`` the first entry of each item; returns how many."""
    n = 0
    for m in range(len(lists)):
        lo = entry_ptr[lists[m]]
        for e in range(ptr[m], ptr[m + 1]):
            i = entry_slot[lo + e - ptr[m]] - first_slot
            if number[i] < 0:
                number[i] = n
                owner[n] = lo + e - ptr[m]
                n += 1
            at[e] = number[i]
    return n


@over_queries
def singular_vectors(
    first, last, pool_ptr, slot_ptr, member_ptr, member, entry_ptr, entry_slot, entry_rank, list_weight, form, tol,
    max_iter, steps, out,
):  # fmt: skip
    """out[e] = the item's row of [U, V] of its pool's matrix; an entry that repeats an item of its pool stays NaN.

    ``pool_ptr`` are the pools of each query, ``member_ptr`` the lists of each pool; ``steps`` as in ``iterate``.
    """
    rank = out.shape[1] // 2
    longest = 0
    for p in range(pool_ptr[first], pool_ptr[last]):
        longest = max(longest, entry_ptr[member[member_ptr[p]] + 1] - entry_ptr[member[member_ptr[p]]])
    work = np.empty((6, longest))
    for q in range(first, last):
        number = np.full(slot_ptr[q + 1] - slot_ptr[q], -1)
        for p in range(pool_ptr[q], pool_ptr[q + 1]):
            lists = member[member_ptr[p] : member_ptr[p + 1]]
            if rank == 1 and len(lists) == 1 and list_weight[lists[0]] > 0:
                lo, hi = entry_ptr[lists[0]], entry_ptr[lists[0] + 1]
                steps[p] = first_vectors(entry_rank[lo:hi], form, tol, max_iter, work, out[lo:hi])
                continue
            ptr = np.zeros(len(lists) + 1, np.int64)
            for m in range(len(lists)):
                ptr[m + 1] = ptr[m] + entry_ptr[lists[m] + 1] - entry_ptr[lists[m]]
            at, owner, scale = np.empty(ptr[-1], np.int64), np.empty(ptr[-1], np.int64), np.empty(ptr[-1])
            for m in range(len(lists)):
                lo = entry_ptr[lists[m]]
                scale_of(entry_rank[lo : entry_ptr[lists[m] + 1]], form, scale[ptr[m] : ptr[m + 1]])
            n = number_items(lists, ptr, entry_ptr, entry_slot, slot_ptr[q], number, at, owner)
            u, v = np.empty((n, rank)), np.empty((n, rank))
            if form == BINARY and len(lists) == 1 and has_no_ties(scale):
                closed_form(n, u, v)
            else:
                steps[p] = iterate(ptr, at, scale, list_weight[lists], form == BINARY, tol, max_iter, u, v)
            orient(u, v)
            for i in range(n):
                out[owner[i], :rank], out[owner[i], rank:] = u[i], v[i]
                number[entry_slot[owner[i]] - slot_ptr[q]] = -1
