"""Bradley–Terry with a reliability of each expert.

An expert with reliability r reports that the first item of a pair wins with probability r P + (1 - r)(1 - P), where P
is the probability that it wins. Strengths are estimated by Newton's method, with the curvature of a pair at least a
tenth of the expected one (the likelihood is not concave), solved by conjugate gradients; a step is halved while it
decreases the likelihood.

Comparisons are not stored: each pass visits the pairs of an item with later items of the same lists, whose entries are
in the order of the slots, and adds them up in a row that stays in the nearest cache.
"""

import math

import numpy as np

from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.links import LOGISTIC
from juryrank.kernels.lists import lists_of_query
from juryrank.kernels.pairs import count_pairs
from juryrank.kernels.pairwise import index_of_slots
from juryrank.kernels.strengths import SHORTEST, add_games, newton_step, store_and_limit

NOISE = 1e-13  # relative decrease of the likelihood that rounding can cause
LARGEST = 300.0  # of a strength whose exponential is used
SMALLEST = 1e-150  # a product of probabilities is replaced by its logarithm before it can become 0


@over_queries
def list_pairs(first, last, lists, most, pair_ptr, n_pairs, left, right):
    """The distinct pairs of every query, ordered by their first item."""
    for q in range(first, last):
        a, b, _, _, _ = count_pairs(q, most[q], lists)
        n_pairs[q] = len(a)
        left[pair_ptr[q] : pair_ptr[q] + len(a)] = a
        right[pair_ptr[q] : pair_ptr[q] + len(a)] = b


@kernel
def evaluate_comparisons(lists, index, left, right, reliability, x, slope, curve, correct):
    """Slope and curvature of each pair, and the expected correct comparisons of each list; the log likelihood."""
    ptr, of_list, of_entry, _ = index
    n, p, value = len(ptr) - 1, 0, 0.0
    worth, rows, terms = np.empty(n), np.zeros((3, n)), np.empty((5, n))  # rows: slope, curvature, expected curvature
    for i in range(n):
        worth[i] = math.exp(min(max(x[i], -LARGEST), LARGEST))
    chance = np.ones(lists.end - lists.begin)  # the square of the probability of a list, as far as it was visited
    for m in range(lists.begin, lists.end):
        correct[m] = 0.0
    for i in range(n):
        for t in range(ptr[i], ptr[i + 1]):
            m, at = of_list[t], of_entry[t]
            r, w, begin, size = reliability[m], lists.list_weight[m], at + 1, lists.entry_ptr[m + 1] - at - 1
            for k in range(size):
                terms[0, k] = worth[lists.entry_slot[begin + k] - lists.lo]
            for k in range(size):
                rank = lists.entry_rank[begin + k]
                won = 1.0 if rank > lists.entry_rank[at] else 0.0 if rank < lists.entry_rank[at] else 0.5
                share = np.reciprocal(worth[i] + terms[0, k])
                up, down = share * worth[i], share * terms[0, k]
                for_first, for_second = r * up + (1.0 - r) * down, r * down + (1.0 - r) * up
                scale = np.reciprocal(for_first * for_second)
                win, loss = won * for_second * scale, (1.0 - won) * for_first * scale
                turn = (2.0 * r - 1.0) * up * down
                terms[0, k] = w * turn * (win - loss)
                terms[1, k] = (
                    w * turn * (turn * scale * (win * for_second + loss * for_first) - (down - up) * (win - loss))
                )
                terms[2, k] = w * turn * turn * scale
                terms[3, k] = win * up + loss * down
                terms[4, k] = (for_first if won > 0.0 else for_second) * (for_first if won == 1.0 else for_second)
            right_ones, squared = 0.0, chance[m - lists.begin]
            for k in range(size):
                j = lists.entry_slot[begin + k] - lists.lo
                rows[0, j] += terms[0, k]
                rows[1, j] += terms[1, k]
                rows[2, j] += terms[2, k]
                right_ones += terms[3, k]
                squared *= max(terms[4, k], SMALLEST)
                if squared < SMALLEST:
                    value += 0.5 * w * math.log(squared)
                    squared = 1.0
            correct[m] += w * r * right_ones
            chance[m - lists.begin] = squared
        while p < len(left) and left[p] == i:
            j = right[p]
            slope[p], curve[p] = rows[0, j], max(rows[1, j], 0.1 * rows[2, j])
            rows[0, j], rows[1, j], rows[2, j] = 0.0, 0.0, 0.0
            p += 1
    for m in range(lists.begin, lists.end):
        value += 0.5 * lists.list_weight[m] * math.log(chance[m - lists.begin])
    return value


@kernel
def maximise_crowd(lists, index, left, right, reliability, correct, prior, games, tol, max_iter, x):
    """Newton steps from x; their number, or max_iter + 1 if the slope stays above tol × games."""
    n, precision = len(x), prior[2]
    pull, curve, nothing = np.empty(len(left)), np.empty(len(left)), np.empty(0)
    slope, diagonal, step, old = np.empty(n), np.empty(n), np.zeros(n), x.copy()
    number, share, best = 0, 1.0, -np.inf
    while True:
        for i in range(n):
            x[i] = old[i] + share * step[i]
        value = evaluate_comparisons(lists, index, left, right, reliability, x, pull, curve, correct)
        for i in range(n):
            value -= 0.5 * precision * x[i] * x[i]
            slope[i], diagonal[i] = -precision * x[i], precision
        for p in range(len(left)):
            slope[left[p]] += pull[p]
            slope[right[p]] -= pull[p]
            diagonal[left[p]] += curve[p]
            diagonal[right[p]] += curve[p]
        most = 0.0
        for i in range(n):
            most = max(most, abs(slope[i]) / games[i])
        if value < best - NOISE * abs(best) and share > SHORTEST and most > tol:
            share *= 0.5
            continue
        if most <= tol or number == max_iter:
            return number if most <= tol else max_iter + 1
        best, number = value, number + 1
        pairs = (left, right, nothing, nothing, nothing)
        newton_step(LOGISTIC, pairs, lists, prior, x, slope, diagonal, curve, nothing, 1e-3, step)
        share = store_and_limit(x, step, old)


@over_queries
def crowd_strengths(
    first, last, lists, pair_ptr, n_pairs, left, right, reliability, precision, tol, max_iter, steps, correct, out
):  # fmt: skip
    """Strengths of every query, given the reliability of the expert of each list; starts at ``out``."""
    for q in range(first, last):
        query = lists_of_query(q, lists)
        index = index_of_slots(q, lists.slot_ptr, lists.list_ptr, lists.entry_ptr, lists.entry_slot, lists.list_weight)
        lo, n = query.lo, lists.slot_ptr[q + 1] - query.lo
        begin, end = pair_ptr[q], pair_ptr[q] + n_pairs[q]
        x, games = np.zeros(n + 1), np.full(n + 1, precision)
        x[:n] = out[lo : lo + n]
        add_games(query, 1, games)
        steps[q] = maximise_crowd(
            query, index, left[begin:end], right[begin:end], reliability, correct, (0.0, 0.0, precision), games,
            tol, max_iter, x,
        )  # fmt: skip
        out[lo : lo + n] = x[:n]
