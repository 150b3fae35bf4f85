"""Bradley–Terry with a reliability of each expert.

An expert with reliability r reports that the first item of a pair wins with probability r P + (1 - r)(1 - P), where P
is the probability that it wins. Strengths are estimated by Newton's method, with the curvature of a pair at least a
tenth of the expected one (the likelihood is not concave), solved by conjugate gradients; a step is halved while it
decreases the likelihood.
"""

import math

import numpy as np

from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.links import LOGISTIC
from juryrank.kernels.lists import lists_of_query
from juryrank.kernels.pairs import count_pairs
from juryrank.kernels.strengths import SHORTEST, add_games, newton_step, store_and_limit

NOISE = 1e-13  # relative decrease of the likelihood that rounding can cause


@over_queries
def list_comparisons(first, last, lists, most, pair_ptr, compared_ptr, n_pairs, left, right, won, pair):
    """The distinct pairs of every query, and for each comparison of each list its pair and the result of the first."""
    entry_ptr, entry_slot, entry_rank = lists.entry_ptr, lists.entry_slot, lists.entry_rank
    for q in range(first, last):
        lo, n = lists.slot_ptr[q], lists.slot_ptr[q + 1] - lists.slot_ptr[q]
        a, b, _, _, _ = count_pairs(q, most[q], lists)
        key = np.sort(a.astype(np.int64) * n + b)
        n_pairs[q] = len(key)
        for p in range(len(key)):
            left[pair_ptr[q] + p], right[pair_ptr[q] + p] = key[p] // n, key[p] % n
        for m in range(lists.list_ptr[q], lists.list_ptr[q + 1]):
            c = compared_ptr[m]
            for e in range(entry_ptr[m], entry_ptr[m + 1]):
                for f in range(e + 1, entry_ptr[m + 1]):
                    i, j = entry_slot[e] - lo, entry_slot[f] - lo
                    pair[c] = np.searchsorted(key, min(i, j) * n + max(i, j))
                    won[c] = 0.5 if entry_rank[e] == entry_rank[f] else 1.0 if i < j else 0.0
                    c += 1


@kernel
def evaluate_comparisons(begin, end, compared_ptr, won, pair, list_weight, reliability, up, slope, curve, correct):
    """Slope and curvature of each pair, and the expected correct comparisons of each list; the log likelihood."""
    value = 0.0
    expected = np.zeros(len(up))
    for p in range(len(up)):
        slope[p], curve[p] = 0.0, 0.0
    for m in range(begin, end):
        r, w = reliability[m], list_weight[m]
        correct[m] = 0.0
        for c in range(compared_ptr[m], compared_ptr[m + 1]):
            p = pair[c]
            flat = up[p] * (1.0 - up[p])
            for_first = r * up[p] + (1.0 - r) * (1.0 - up[p])
            for_second = 1.0 - for_first
            first, second = won[c] / for_first, (1.0 - won[c]) / for_second
            turn = (2.0 * r - 1.0) * flat
            slope[p] += w * turn * (first - second)
            curve[p] += (
                w * turn * (turn * (first / for_first + second / for_second) - (1.0 - 2.0 * up[p]) * (first - second))
            )
            expected[p] += w * turn * turn / (for_first * for_second)
            correct[m] += w * r * (won[c] * up[p] / for_first + (1.0 - won[c]) * (1.0 - up[p]) / for_second)
            value += w * (won[c] * math.log(for_first) + (1.0 - won[c]) * math.log(for_second))
    for p in range(len(up)):
        curve[p] = max(curve[p], 0.1 * expected[p])
    return value


@kernel
def maximise_crowd(lists, left, right, compared, prior, games, tol, max_iter, x):
    """Newton steps from x; their number, or max_iter + 1 if the slope stays above tol × games."""
    compared_ptr, won, pair, reliability, correct = compared
    n, precision = len(x), prior[2]
    up, pull, curve, nothing = np.empty(len(left)), np.empty(len(left)), np.empty(len(left)), np.empty(0)
    slope, diagonal, step, old = np.empty(n), np.empty(n), np.zeros(n), x.copy()
    number, share, best = 0, 1.0, -np.inf
    while True:
        for i in range(n):
            x[i] = old[i] + share * step[i]
        for p in range(len(left)):
            up[p] = 1.0 / (1.0 + math.exp(x[right[p]] - x[left[p]]))
        value = evaluate_comparisons(
            lists.begin, lists.end, compared_ptr, won, pair, lists.list_weight, reliability, up, pull, curve, correct
        )
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
    first, last, lists, pair_ptr, compared_ptr, n_pairs, left, right, won, pair, reliability, precision, tol, max_iter,
    steps, correct, out,
):  # fmt: skip
    """Strengths of every query, given the reliability of the expert of each list; starts at ``out``."""
    for q in range(first, last):
        query = lists_of_query(q, lists)
        lo, n = query.lo, lists.slot_ptr[q + 1] - query.lo
        begin, end = pair_ptr[q], pair_ptr[q] + n_pairs[q]
        x, games = np.zeros(n + 1), np.full(n + 1, precision)
        x[:n] = out[lo : lo + n]
        add_games(query, 1, games)
        compared, prior = (compared_ptr, won, pair, reliability, correct), (0.0, 0.0, precision)
        steps[q] = maximise_crowd(query, left[begin:end], right[begin:end], compared, prior, games, tol, max_iter, x)
        out[lo : lo + n] = x[:n]
