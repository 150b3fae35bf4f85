"""Strengths by linear algebra on the graph of comparisons: least squares, a random walk, and a matrix of rank 2.

The last is the skew-symmetric matrix of rank 2 that is nearest to the mean preferences of the pairs that lists compare.
It is ``size (u vᵀ - v uᵀ)`` with orthonormal u and v; it is never built. Pairs that no list compares are taken as 0
with a weight e. A step fills in the unknown pairs with (1 - e) times the last matrix and projects on rank 2 again
(singular value projection), by a few subspace iterations from the last u and v.
"""

import cython
import numpy as np
from cython.cimports.libc.math import log, sqrt

from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.dense import dot_first
    from juryrank.kernels.elements import Float, Int
    from juryrank.kernels.lists import Lists, PairCounter, Pairs, groups_of_pairs
    from juryrank.kernels.ragged import longest

INNER = cython.declare(cython.longlong, 3)  # subspace iterations per step


def differences(q, lists, entry_value, by_order, out):
    """out[i] += the sum of the preferences for i over all other items, over lists.

    A preference is a difference of values, or +1 above and -1 below by order. Items of a tail are compared with the
    ranked items only.
    """
    lo, entry_slot, entry_rank = lists.slot_ptr[q], lists.entry_slot, lists.entry_rank
    for m in range(lists.list_ptr[q], lists.list_ptr[q + 1]):
        start, stop, weight = lists.entry_ptr[m], lists.entry_ptr[m + 1], lists.list_weight[m]
        ranked = stop - lists.tail[m]
        in_list, in_tail = 0.0, 0.0
        for e in range(start, stop):
            if e < ranked:
                in_list += entry_value[e]
            else:
                in_tail += entry_value[e]
        same = start
        for e in range(start, stop):
            i = entry_slot[e] - lo
            if not by_order:
                among = (stop - start) * entry_value[e] - in_list - in_tail
                out[i] += weight * (among if e < ranked else (ranked - start) * entry_value[e] - in_list)
                continue
            if e >= ranked:
                out[i] -= weight * (ranked - start)
                continue
            if entry_rank[e] != entry_rank[same]:
                same = e
            below = e + 1
            while below < ranked and entry_rank[below] == entry_rank[e]:
                below += 1
            out[i] += weight * ((stop - below) - (same - start))


def laplacian(q, lists, precision, s, out):
    """out = the matrix of the normal equations times s: differences over all lists, and the prior."""
    lo, entry_slot = lists.slot_ptr[q], lists.entry_slot
    for i in range(lists.slot_ptr[q + 1] - lo):
        out[i] = precision * s[i]
    for m in range(lists.list_ptr[q], lists.list_ptr[q + 1]):
        start, stop, weight = lists.entry_ptr[m], lists.entry_ptr[m + 1], lists.list_weight[m]
        ranked = stop - lists.tail[m]
        in_list, in_tail = 0.0, 0.0
        for e in range(start, ranked):
            in_list += s[entry_slot[e] - lo]
        for e in range(ranked, stop):
            in_tail += s[entry_slot[e] - lo]
        for e in range(start, ranked):
            i = entry_slot[e] - lo
            out[i] += weight * ((stop - start) * s[i] - in_list - in_tail)
        for e in range(ranked, stop):
            i = entry_slot[e] - lo
            out[i] += weight * ((ranked - start) * s[i] - in_list)


@over_queries
def least_squares(
    first: cython.longlong, last: cython.longlong, lists: Lists, entry_value: Float[::1], by_order: cython.bint,
    precision: cython.double, tol: cython.double, max_iter: cython.longlong, steps: cython.longlong[::1],
    out: cython.double[::1],
):  # fmt: skip
    """HodgeRank strengths of every query, by conjugate gradients."""
    spare = np.empty((4, longest(first, last, lists.slot_ptr)))
    rest: cython.double[::1] = spare[0]
    scale: cython.double[::1] = spare[1]
    direction: cython.double[::1] = spare[2]
    image: cython.double[::1] = spare[3]
    with cython.nogil:
        for q in range(first, last):
            lo, hi = lists.slot_ptr[q], lists.slot_ptr[q + 1]
            for i in range(hi - lo):
                rest[i], scale[i], direction[i] = 0.0, precision, 0.0
            differences(q, lists, entry_value, by_order, rest)
            for m in range(lists.list_ptr[q], lists.list_ptr[q + 1]):
                start, stop = lists.entry_ptr[m], lists.entry_ptr[m + 1]
                ranked = stop - lists.tail[m]
                for e in range(start, stop):
                    others = stop - start - 1 if e < ranked else ranked - start
                    scale[lists.entry_slot[e] - lo] += lists.list_weight[m] * others
            steps[q] = conjugate_gradients(
                q, lists, precision, scale, rest, direction, image, tol, max_iter, out[lo:hi]
            )  # fmt: skip


def conjugate_gradients(q, lists, precision, scale, rest, direction, image, tol, max_iter, s):
    """Solve laplacian(s) = rest from s = 0; ``rest`` is used up. The number of steps, or max_iter + 1."""
    n = s.shape[0]
    before, enough = 1.0, 0.0
    for number in range(max_iter + 1):
        size: cython.double = 0
        for i in range(n):
            size += rest[i] * rest[i] / scale[i]
        if number == 0:
            enough = tol * tol * size
        if size <= enough:
            return number
        turn = size / before if number else 0.0
        for i in range(n):
            direction[i] = rest[i] / scale[i] + turn * direction[i]
        laplacian(q, lists, precision, direction, image)
        step = size / dot_first(n, direction, image)
        for i in range(n):
            s[i] += step * direction[i]
            rest[i] -= step * image[i]
        before = size
    return max_iter + 1


def neighbours(n, pairs, ptr, numbers):
    """``numbers[ptr[i]:ptr[i+1]]`` become the numbers of the pairs of each item; ``ptr`` has room for n + 2."""
    left, right = pairs.left, pairs.right
    for i in range(n + 2):
        ptr[i] = 0
    for p in range(pairs.count):
        ptr[left[p] + 2] += 1
        ptr[right[p] + 2] += 1
    for i in range(n):
        ptr[i + 2] += ptr[i + 1]
    for p in range(pairs.count):
        i, j = left[p] + 1, right[p] + 1
        numbers[ptr[i]] = p
        numbers[ptr[j]] = p
        ptr[i] += 1
        ptr[j] += 1


def balance(n, pairs, ptr, numbers, tol, max_iter, mass):
    """Stationary mass by Gauss–Seidel sweeps; the number of sweeps, or max_iter + 1.

    ``won`` of a pair is the rate from the second item to the first; the rate back is 1 - ``won``.
    """
    left, right, share = pairs.left, pairs.right, pairs.won
    for number in range(max_iter):
        moved: cython.double = 0
        for turn in range(n):
            i = turn if number % 2 == 0 else n - 1 - turn  # so that the order of the items matters less
            inflow: cython.double = 0
            outflow: cython.double = 0
            for t in range(ptr[i], ptr[i + 1]):
                p = numbers[t]
                to_i = share[p] if left[p] == i else 1.0 - share[p]
                inflow += to_i * mass[right[p] if left[p] == i else left[p]]
                outflow += 1.0 - to_i
            if outflow > 0.0:
                moved = max(moved, abs(inflow / outflow / mass[i] - 1.0))
                mass[i] = inflow / outflow
        if moved < tol:
            return number + 1
    return max_iter + 1


@over_queries
def rank_centrality(
    first: cython.longlong, last: cython.longlong, lists: Lists, most: Int[::1], games: cython.double,
    tol: cython.double, max_iter: cython.longlong, steps: cython.longlong[::1], out: cython.double[::1],
):  # fmt: skip
    """Rank Centrality of every query: log of the stationary probability times the number of items.

    From an item the walk moves to each item that it is compared with at the rate at which it loses to it; ``games``
    pseudo-wins of each item keep every rate positive. The mean mass of every group is 1.
    """
    counter: PairCounter = PairCounter(first, last, lists, most)
    room = longest(first, last, lists.slot_ptr)
    ptr: cython.longlong[::1] = np.empty(room + 2, np.int64)
    root: cython.longlong[::1] = np.empty(room, np.int64)
    numbers: cython.longlong[::1] = np.empty(2 * counter.pairs.left.shape[0], np.int64)
    mass: cython.double[::1] = np.empty(room)
    total: cython.double[:, ::1] = np.empty((2, room))
    pairs = counter.pairs
    with cython.nogil:
        for q in range(first, last):
            lo, n = lists.slot_ptr[q], lists.slot_ptr[q + 1] - lists.slot_ptr[q]
            counter.count(q)
            for p in range(pairs.count):
                played = pairs.won[p] + pairs.lost[p] + pairs.tied[p]
                pairs.won[p] = (pairs.won[p] + 0.5 * pairs.tied[p] + games) / (played + 2.0 * games)
            for i in range(n):
                mass[i], total[0, i], total[1, i] = 1.0, 0.0, 0.0
            neighbours(n, pairs, ptr, numbers)
            steps[q] = balance(n, pairs, ptr, numbers, tol, max_iter, mass)
            groups_of_pairs(n, pairs, root)
            for i in range(n):
                total[0, root[i]] += mass[i]
                total[1, root[i]] += 1.0
            for i in range(n):
                out[lo + i] = log(mass[i] * (total[1, root[i]] / total[0, root[i]]))


@cython.final
@cython.cclass
class RankTwo:
    """The matrix of one query of at most ``room`` items, and its pairs with their mean preferences ``target``."""

    def __init__(self, room, pairs: Pairs, unknown):
        self.pairs, self.unknown = pairs, unknown
        self.target, self.rest = np.empty((2, pairs.left.shape[0]))
        self.u, self.v, self.new_u, self.new_v, self.image = np.empty((5, room))

    def sparse_times(self, x, out):
        """out = the skew-symmetric matrix of the known pairs times x."""
        left, right, rest = self.pairs.left, self.pairs.right, self.rest
        for i in range(self.n):
            out[i] = 0.0
        for p in range(self.pairs.count):
            out[left[p]] += rest[p] * x[right[p]]
            out[right[p]] -= rest[p] * x[left[p]]

    def filled_times(self, size, x, out):
        """out = the filled-in matrix times x: the residual of the known pairs, and the last matrix."""
        n, u, v = self.n, self.u, self.v
        self.sparse_times(x, out)
        along_u, along_v = dot_first(n, u, x), dot_first(n, v, x)
        for i in range(n):
            out[i] += size * (u[i] * along_v - v[i] * along_u)

    def normalise(self, x, out):
        """out = x divided by its length; False if that is 0."""
        length = sqrt(dot_first(self.n, x, x))
        if length == 0.0:
            return False
        for i in range(self.n):
            out[i] = x[i] / length
        return True

    def project(self):
        """new_u, new_v and the size of the matrix of rank 2 nearest to the filled-in one; 0 where that is 0."""
        n, new_u, new_v, image = self.n, self.new_u, self.new_v, self.image
        size = (1.0 - self.unknown) * self.size
        for i in range(n):
            new_u[i], new_v[i] = self.u[i], self.v[i]
        for _ in range(INNER):
            self.filled_times(size, new_v, image)
            for i in range(n):
                new_v[i] = new_u[i]
            if not self.normalise(image, new_u):
                return 0.0
            self.filled_times(size, new_v, image)
            along = dot_first(n, new_u, image)
            for i in range(n):
                image[i] = along * new_u[i] - image[i]
            if not self.normalise(image, new_v):
                return 0.0
        self.filled_times(size, new_v, image)
        return dot_first(n, new_u, image)

    def gradient_norm(self):
        """The norm of the gradient in u and v: 0 for the best matrix."""
        u, v, image = self.u, self.v, self.image
        pull, squares = self.unknown * self.size, 0.0
        self.sparse_times(u, image)
        for i in range(self.n):
            slope = image[i] + pull * v[i]
            squares += slope * slope
        self.sparse_times(v, image)
        for i in range(self.n):
            slope = image[i] - pull * u[i]
            squares += slope * slope
        return sqrt(squares)

    def complete(self, tol, max_iter, out):
        """Row means of the matrix; the number of steps, or max_iter + 1."""
        n, u, v, target, rest = out.shape[0], self.u, self.v, self.target, self.rest
        self.n, self.size = n, 0.0
        for p in range(self.pairs.count):
            rest[p] = target[p]
        for i in range(n):
            v[i] = 1.0 / sqrt(n)
        self.sparse_times(v, u)
        length, known = sqrt(dot_first(n, u, u)), sqrt(2.0 * dot_first(self.pairs.count, target, target))
        if length <= 1e-12 * known or known == 0.0:
            return 0
        for i in range(n):
            u[i] /= length
        steps = max_iter + 1
        for number in range(max_iter):
            self.size = self.project()
            for i in range(n):
                u[i], v[i] = self.new_u[i], self.new_v[i]
            for p in range(self.pairs.count):
                i, j = self.pairs.left[p], self.pairs.right[p]
                rest[p] = target[p] - (1.0 - self.unknown) * self.size * (u[i] * v[j] - v[i] * u[j])
            if self.gradient_norm() <= tol * known:
                steps = number + 1
                break
        in_u, in_v = 0.0, 0.0
        for i in range(n):
            in_u += u[i]
            in_v += v[i]
        for i in range(n):
            out[i] = self.size * (u[i] * (in_v / n) - v[i] * (in_u / n))
        return steps


@over_queries
def rank_two(
    first: cython.longlong, last: cython.longlong, lists: Lists, most: Int[::1], entry_value: Float[::1],
    by_order: cython.bint, unknown: cython.double, tol: cython.double, max_iter: cython.longlong,
    steps: cython.longlong[::1], out: cython.double[::1],
):  # fmt: skip
    """The row means of every query's rank-2 matrix of mean preferences, by order or by value."""
    counter: PairCounter = PairCounter(first, last, lists, most)
    matrix: RankTwo = RankTwo(longest(first, last, lists.slot_ptr), counter.pairs, unknown)
    pairs = counter.pairs
    with cython.nogil:
        for q in range(first, last):
            counter.count(q)
            if by_order:
                for p in range(pairs.count):
                    played = pairs.won[p] + pairs.lost[p] + pairs.tied[p]
                    matrix.target[p] = (pairs.won[p] - pairs.lost[p]) / played
            else:
                counter.mean_leads(q, entry_value, matrix.target)
            steps[q] = matrix.complete(tol, max_iter, out[lists.slot_ptr[q] : lists.slot_ptr[q + 1]])
