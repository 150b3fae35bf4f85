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

import math

import numpy as np

from juryrank.kernels.jit import kernel, over_queries


@kernel
def soft_moves(begin, end, entry_ptr, entry_slot, entry_rank, list_weight, order, temperature):
    """The ranks of the items of ``order`` [lists, items], the moves above the diagonal, the sum of the moves of each.

    Also the total weight of the lists.
    """
    n = len(order)
    lo, total = order.min(), 0.0
    place, rank = np.empty(n, np.int64), np.full((end - begin, n), np.inf)
    for i in range(n):
        place[order[i] - lo] = i
    for m in range(begin, end):
        total += list_weight[m]
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            rank[m - begin, place[entry_slot[e] - lo]] = entry_rank[e]
    move, leave, start = np.empty(n * (n - 1) // 2), np.zeros(n), 0
    for i in range(n - 1):
        row = move[start : start + n - 1 - i]
        row[:] = 0.0
        for m in range(end - begin):
            here, below, weight = rank[m, i], rank[m, i + 1 :], list_weight[begin + m]
            for k in range(len(row)):
                row[k] += weight if here < below[k] else -weight if here > below[k] else 0.0
        for k in range(len(row)):
            row[k] = 1.0 / (1.0 + math.exp(row[k] / (total * temperature)))
            leave[i] += row[k]
            leave[i + 1 + k] += 1.0 - row[k]
        start += n - 1 - i
    return rank, move, leave, total


@kernel
def product(row, v):
    """Σ row × v, in four sums that a processor adds side by side."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = len(row) - len(row) % 4
    for k in range(0, whole, 4):
        a += row[k] * v[k]
        b += row[k + 1] * v[k + 1]
        c += row[k + 2] * v[k + 2]
        d += row[k + 3] * v[k + 3]
    for k in range(whole, len(row)):
        a += row[k] * v[k]
    return (a + b) + (c + d)


@over_queries
def soft_majority(
    first, end, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, order,
    temperature, teleport, tol, max_iter, steps, x,
):  # fmt: skip
    """Stationary distribution of MC4 with soft majorities, starting from ``x``; ``steps`` counts the sweeps."""
    for q in range(first, end):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        steps[q] = 0
        if n == 0:
            continue
        slots = order[lo : lo + n]
        _, move, leave, _ = soft_moves(
            list_ptr[q], list_ptr[q + 1], entry_ptr, entry_slot, entry_rank, list_weight, slots, temperature
        )
        share = (1.0 - teleport) / n
        mass, old, down, new_down = np.empty(n), np.empty(n), np.zeros(n), np.zeros(n)  # down: mass from stronger items
        start = 0
        for i in range(n):
            mass[i] = x[slots[i]]
            for k in range(n - 1 - i):
                down[i + 1 + k] += move[start + k] * mass[i]
            start += n - 1 - i
        steps[q] = max_iter + 1
        for step in range(1, max_iter + 1):
            start, weaker = len(move), 0.0
            for i in range(n - 1, -1, -1):
                start -= n - 1 - i
                old[i], new_down[i] = mass[i], 0.0
                row = move[start : start + n - 1 - i]
                up = max(weaker - product(row, mass[i + 1 :]), 0.0)
                mass[i] = (teleport / n + share * (down[i] + up)) / (teleport + share * leave[i])
                weaker += mass[i]
                for k in range(len(row)):
                    new_down[i + 1 + k] += row[k] * mass[i]
            moved = 0.0
            for i in range(n):
                mass[i] /= weaker
                new_down[i] /= weaker
                moved += abs(mass[i] - old[i])
            down, new_down = new_down, down
            if moved < tol:
                steps[q] = step
                break
        for i in range(n):
            x[slots[i]] = mass[i]


@over_queries
def soft_majority_slopes(
    first, end, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, order,
    temperature, teleport, tol, max_iter, x, slope, out,
):  # fmt: skip
    """Derivative of the loss by the weight of each list under soft majorities, from ``slope`` = ∂loss/∂x."""
    for q in range(first, end):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        if n == 0:
            continue
        slots, begin = order[lo : lo + n], list_ptr[q]
        rank, move, leave, total = soft_moves(
            begin, list_ptr[q + 1], entry_ptr, entry_slot, entry_rank, list_weight, slots, temperature
        )
        share = (1.0 - teleport) / n
        mass, pull, l, up = np.empty(n), np.empty(n), np.zeros(n), np.empty(n)  # up: from stronger items
        level, steepest = 0.0, 1.0
        for i in range(n):
            mass[i], pull[i] = x[slots[i]], slope[slots[i]]
            level += mass[i] * pull[i]
            steepest = max(steepest, abs(pull[i]))
        # A constant added to the slope adds one to l, which changes nothing; with this one the mean of l is 0.
        for _ in range(max_iter):
            start, mean, moved = 0, 0.0, 0.0
            up[:] = 0.0
            for i in range(n):
                row = move[start : start + n - 1 - i]
                new = pull[i] - level + share * (up[i] + product(row, l[i + 1 :]))
                new /= teleport + share * leave[i]
                moved = max(moved, abs(new - l[i]))
                l[i] = new
                mean += new / n
                for k in range(len(row)):
                    up[i + 1 + k] += (1.0 - row[k]) * new
                start += n - 1 - i
            for i in range(n):
                l[i] -= mean
            if moved < tol * steepest:
                break
        ordered, common = np.zeros(len(rank)), 0.0
        turn, sign, start = np.empty(n), np.empty(n), 0  # derivative by the margin of one item over each later one
        for i in range(n - 1):
            row = move[start : start + n - 1 - i]
            for k in range(len(row)):
                steep = row[k] * (1.0 - row[k])
                turn[k] = steep * (l[i] - l[i + 1 + k]) * (mass[i] + mass[i + 1 + k])
            for m in range(len(rank)):
                here, below = rank[m, i], rank[m, i + 1 :]
                for k in range(len(row)):
                    sign[k] = 1.0 if here < below[k] else -1.0 if here > below[k] else 0.0
                ordered[m] += product(sign[: len(row)], turn)
            start += n - 1 - i
        for m in range(len(rank)):
            ordered[m] *= share / (total * temperature)
            common += list_weight[begin + m] * ordered[m] / total
        for m in range(len(rank)):
            out[begin + m] = ordered[m] - common
