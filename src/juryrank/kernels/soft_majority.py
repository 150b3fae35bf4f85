"""MC4 with soft majorities: its stationary distribution, and how this changes with the weights of the lists.

``move(i, j)`` is the probability that a walk at i moves to j if j is chosen: a sigmoid of the share of the lists that
prefer j. As move(j, i) = 1 - move(i, j), only the part above the diagonal is stored, row by row. With a teleport t the
mass x solves x = (1 - t) Pᵀx + t/n, and for a loss f(x) the derivative by a weight w is (1 - t) xᵀ (∂P/∂w) l, where
l = (1 - t) P l + ∂f/∂x.

Both systems are solved by Gauss–Seidel sweeps over the items, from weak to strong for x and back for l, because moves
are mainly from weak items to strong ones: about ten sweeps, where the walk needs a hundred steps. After each sweep the
sum of x is set to 1 and the mean of l to its known value. ``order`` has the slots of each query from strong to weak; it
affects the number of sweeps, not what they converge to. Items that a list leaves out are tied below it.
"""

import cython
import numpy as np
from cython.cimports.libc.math import exp

from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.elements import Float, Int, Int32
    from juryrank.kernels.ragged import longest

INFINITY = cython.declare(cython.double, float("inf"))


def most_ranks(first, end, slot_ptr, list_ptr):
    """The largest product of the numbers of lists and items of one of the queries first:end, at least 1."""
    most: cython.longlong = 1
    for q in range(first, end):
        most = max(most, (list_ptr[q + 1] - list_ptr[q]) * (slot_ptr[q + 1] - slot_ptr[q]))
    return most


def soft_moves(
    lo, n, begin, end, entry_ptr, entry_slot, entry_rank, list_weight, order, temperature, place, rank, move, leave
):
    """The ranks of the n items of ``order`` from ``lo`` on [lists, items], the moves, the sum of the moves of each.

    Returns the total weight of the lists begin:end; ``place`` is room.
    """
    total = 0.0
    for i in range(n):
        place[order[lo + i] - lo], leave[i] = i, 0.0
    for t in range((end - begin) * n):
        rank[t] = INFINITY
    for m in range(begin, end):
        total += list_weight[m]
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            rank[(m - begin) * n + place[entry_slot[e] - lo]] = entry_rank[e]
    start: cython.longlong = 0
    for i in range(n - 1):
        size = n - 1 - i
        for k in range(size):
            move[start + k] = 0.0
        for m in range(end - begin):
            here, after, weight = rank[m * n + i], m * n + i + 1, list_weight[begin + m]
            for k in range(size):
                below = rank[after + k]
                move[start + k] += weight if here < below else -weight if here > below else 0.0
        for k in range(size):
            x = 1.0 / (1.0 + exp(move[start + k] / (total * temperature)))
            move[start + k] = x
            leave[i] += x
            leave[i + 1 + k] += 1.0 - x
        start += size
    return total


def product(size, x, at, y, begin):
    """Σ x[at + k] × y[begin + k] over k < size, in four sums that a processor adds side by side."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = size - size % 4
    for k in range(0, whole, 4):
        a += x[at + k] * y[begin + k]
        b += x[at + k + 1] * y[begin + k + 1]
        c += x[at + k + 2] * y[begin + k + 2]
        d += x[at + k + 3] * y[begin + k + 3]
    for k in range(whole, size):
        a += x[at + k] * y[begin + k]
    return (a + b) + (c + d)


def settle(n, move, leave, teleport, tol, max_iter, mass, old, down):
    """Sweep until ``mass`` is stationary; the number of sweeps. ``old`` and the two rows of ``down`` are room."""
    share = (1.0 - teleport) / n
    start: cython.longlong = 0
    for i in range(n):
        down[0, i] = 0.0
    for i in range(n):
        for k in range(n - 1 - i):
            down[0, i + 1 + k] += move[start + k] * mass[i]
        start += n - 1 - i
    side = 0  # down[side]: mass from stronger items
    for step in range(1, max_iter + 1):
        weaker: cython.double = 0.0
        for i in range(n - 1, -1, -1):
            size = n - 1 - i
            start -= size
            up = max(weaker - product(size, move, start, mass, i + 1), 0.0)
            old[i], mine = mass[i], (teleport / n + share * (down[side, i] + up)) / (teleport + share * leave[i])
            mass[i], down[1 - side, i] = mine, 0.0
            weaker += mine
            for k in range(size):
                down[1 - side, i + 1 + k] += move[start + k] * mine
        moved: cython.double = 0.0
        for i in range(n):
            mass[i] /= weaker
            down[1 - side, i] /= weaker
            moved += abs(mass[i] - old[i])
        side, start = 1 - side, n * (n - 1) // 2
        if moved < tol:
            return step
    return max_iter + 1


@over_queries
def soft_majority(
    first: cython.longlong, end: cython.longlong, slot_ptr: Int[::1], list_ptr: Int[::1], entry_ptr: Int[::1],
    entry_slot: Int32[::1], entry_rank: Float[::1], list_weight: Float[::1], order: Int[::1],
    temperature: cython.double, teleport: cython.double, tol: cython.double, max_iter: cython.longlong,
    steps: cython.longlong[::1], x: cython.double[::1],
):  # fmt: skip
    """Stationary distribution of MC4 with soft majorities, starting from ``x``; ``steps`` counts the sweeps."""
    most = longest(first, end, slot_ptr)
    place: cython.longlong[::1] = np.empty(most, np.int64)
    rank: cython.double[::1] = np.empty(most_ranks(first, end, slot_ptr, list_ptr))
    move: cython.double[::1] = np.empty(most * (most - 1) // 2)
    numbers: cython.double[:, ::1] = np.empty((3, most))
    down: cython.double[:, ::1] = np.empty((2, most))
    with cython.nogil:
        mass, old, leave = numbers[0], numbers[1], numbers[2]
        for q in range(first, end):
            lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
            steps[q] = 0
            if n == 0:
                continue
            soft_moves(
                lo, n, list_ptr[q], list_ptr[q + 1], entry_ptr, entry_slot, entry_rank, list_weight, order,
                temperature, place, rank, move, leave,
            )  # fmt: skip
            for i in range(n):
                mass[i] = x[order[lo + i]]
            steps[q] = settle(n, move, leave, teleport, tol, max_iter, mass, old, down)
            for i in range(n):
                x[order[lo + i]] = mass[i]


def pull_back(n, move, leave, teleport, enough, max_iter, pull, l, up):
    """Sweep until ``l`` solves its system for the slope ``pull``, or no element moves ``enough``; ``up`` is room."""
    share = (1.0 - teleport) / n
    for i in range(n):
        l[i] = 0.0
    for _ in range(max_iter):
        start: cython.longlong = 0
        moved: cython.double = 0.0
        mean = 0.0
        for i in range(n):
            up[i] = 0.0  # from stronger items
        for i in range(n):
            size = n - 1 - i
            new = pull[i] + share * (up[i] + product(size, move, start, l, i + 1))
            new /= teleport + share * leave[i]
            moved = max(moved, abs(new - l[i]))
            l[i] = new
            mean += new / n
            for k in range(size):
                up[i + 1 + k] += (1.0 - move[start + k]) * new
            start += size
        for i in range(n):
            l[i] -= mean
        if moved < enough:
            break


def margin_slopes(n, n_lists, rank, move, mass, l, turn, sign, out, begin):
    """Add to out[begin + m] the derivative by the margins that the list m adds to; ``turn`` and ``sign`` are room."""
    start: cython.longlong = 0
    for i in range(n - 1):
        size = n - 1 - i
        for k in range(size):  # the derivative by the margin of one item over each later one
            x = move[start + k]
            turn[k] = x * (1.0 - x) * (l[i] - l[i + 1 + k]) * (mass[i] + mass[i + 1 + k])
        for m in range(n_lists):
            here, after = rank[m * n + i], m * n + i + 1
            for k in range(size):
                below = rank[after + k]
                sign[k] = 1.0 if here < below else -1.0 if here > below else 0.0
            out[begin + m] += product(size, sign, 0, turn, 0)
        start += size


@over_queries
def soft_majority_slopes(
    first: cython.longlong, end: cython.longlong, slot_ptr: Int[::1], list_ptr: Int[::1], entry_ptr: Int[::1],
    entry_slot: Int32[::1], entry_rank: Float[::1], list_weight: Float[::1], order: Int[::1],
    temperature: cython.double, teleport: cython.double, tol: cython.double, max_iter: cython.longlong,
    x: Float[::1], slope: Float[::1], out: cython.double[::1],
):  # fmt: skip
    """Derivative of the loss by the weight of each list under soft majorities, from ``slope`` = ∂loss/∂x."""
    most = longest(first, end, slot_ptr)
    place: cython.longlong[::1] = np.empty(most, np.int64)
    rank: cython.double[::1] = np.empty(most_ranks(first, end, slot_ptr, list_ptr))
    move: cython.double[::1] = np.empty(most * (most - 1) // 2)
    numbers: cython.double[:, ::1] = np.empty((6, most))
    with cython.nogil:
        mass, pull, l, leave, up, sign = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]
        for q in range(first, end):
            lo, n, begin, stop = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q], list_ptr[q], list_ptr[q + 1]
            if n == 0:
                continue
            total = soft_moves(
                lo, n, begin, stop, entry_ptr, entry_slot, entry_rank, list_weight, order, temperature, place, rank,
                move, leave,
            )  # fmt: skip
            steepest: cython.double = 1.0
            level, common = 0.0, 0.0
            for i in range(n):
                mass[i], pull[i] = x[order[lo + i]], slope[order[lo + i]]
                level += mass[i] * pull[i]
                steepest = max(steepest, abs(pull[i]))
            # A constant added to the slope adds one to l, which changes nothing; with this one the mean of l is 0.
            for i in range(n):
                pull[i] -= level
            pull_back(n, move, leave, teleport, tol * steepest, max_iter, pull, l, up)
            for m in range(begin, stop):
                out[m] = 0.0
            margin_slopes(n, stop - begin, rank, move, mass, l, up, sign, out, begin)
            for m in range(begin, stop):
                out[m] *= (1.0 - teleport) / n / (total * temperature)
                common += list_weight[m] * out[m] / total
            for m in range(begin, stop):
                out[m] -= common
