"""Strengths of the items of a query: the maximum of a concave likelihood with a prior, by Newton's method.

The unknowns are the strengths and, last, one parameter for ties. The slope of the log prior is ``shape - rate exp(s) -
precision s``: a normal prior on s, or a Gamma prior on exp(s). Newton steps are solved by conjugate gradients with a
diagonal preconditioner, so that no matrix is built; a step is halved while it does not reduce the slope. Under the
normal prior every group of items that are compared only with each other has mean 0 at the maximum; with a weak prior
rounding would decide about that mean, so it is set at the end.
"""

import math

import numpy as np

from juryrank.kernels.choices import curve_over_lists, pass_over_lists
from juryrank.kernels.groups import centre, groups_of_lists, groups_of_pairs
from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.links import (
    DAVIDSON,
    LISTWISE,
    LOGISTIC,
    NEVER,
    PROBIT,
    RAO_KUPPER,
    davidson,
    pass_over_pairs,
    rao_kupper,
)
from juryrank.kernels.lists import lists_of_query
from juryrank.kernels.pairs import count_pairs

FARTHEST = 5.0  # the most that one step moves a strength: odds of 150
SHORTEST = 1e-6  # a step this short is always accepted


@kernel
def evaluate(link, pairs, lists, prior, x, slope, diagonal, one, two):
    """Slope and diagonal curvature at x; ``one`` and ``two`` store what the product with the curvature needs."""
    first, second, won, lost, tied = pairs
    shape, rate, precision = prior
    n = len(x) - 1
    for i in range(n):
        worth = rate * math.exp(x[i]) if rate > 0.0 else 0.0
        slope[i] = shape - worth - precision * x[i]
        diagonal[i] = worth + precision
    slope[n], diagonal[n] = 0.0, 0.0
    if link == LISTWISE:
        pass_over_lists(lists, x, slope, diagonal, one, two)
    else:
        pass_over_pairs(link, first, second, won, lost, tied, x, slope, diagonal, one, two)
    if link in (DAVIDSON, RAO_KUPPER) and x[n] != NEVER:
        tie_prior(link, precision, x[n], slope, diagonal)
    else:
        diagonal[n] = 1.0


@kernel
def tie_prior(link, games, t, slope, diagonal):
    """``games`` pseudo-games between equal items, a third of them ties, keep the tie parameter finite."""
    third = games / 3.0
    if link == DAVIDSON:
        _, _, in_t, curve, _ = davidson(0.0, t, third, third, third)
    else:
        _, _, in_t, curve, _ = rao_kupper(0.0, t, third, third, third)
    slope[-1] += in_t
    diagonal[-1] += curve


@kernel
def curve_times(link, pairs, lists, prior, x, diagonal, one, two, v, out):
    """out = curvature at x times v."""
    first, second = pairs[0], pairs[1]
    _, rate, precision = prior
    n = len(x) - 1
    if link == LISTWISE:
        for i in range(n):
            out[i] = ((rate * math.exp(x[i]) if rate > 0.0 else 0.0) + precision) * v[i]
        out[n] = v[n]
        curve_over_lists(lists, x, one, two, v, out)
        return
    out[:] = diagonal * v
    if link in (LOGISTIC, PROBIT):
        i, taken = 0, 0.0  # the sum of a row stays in a register
        for p in range(len(first)):
            if first[p] != i:
                out[i] -= taken
                i, taken = first[p], 0.0
            taken += one[p] * v[second[p]]
            out[second[p]] -= one[p] * v[i]
        out[i] -= taken
        return
    for p in range(len(first)):
        i, j = first[p], second[p]
        out[i] += two[p] * v[n] - one[p] * v[j]
        out[j] -= two[p] * v[n] + one[p] * v[i]
        out[n] += two[p] * (v[i] - v[j])


@kernel
def newton_step(link, pairs, lists, prior, x, slope, diagonal, one, two, accuracy, step):
    """step = the solution of curvature times step = slope, to a relative residual of ``accuracy``."""
    n = len(x)
    rest, image, direction = slope.copy(), np.empty(n), np.zeros(n)
    before, enough = 1.0, 0.0
    for i in range(n):
        step[i] = 0.0
    for number in range(4 * n + 20):
        size = 0.0
        for i in range(n):
            size += rest[i] * rest[i] / diagonal[i]
        if number == 0:
            enough = accuracy * accuracy * size
        elif size <= enough:
            return
        for i in range(n):
            direction[i] = rest[i] / diagonal[i] + (size / before if number else 0.0) * direction[i]
        curve_times(link, pairs, lists, prior, x, diagonal, one, two, direction, image)
        along = 0.0
        for i in range(n):
            along += direction[i] * image[i]
        if not along > 0.0:
            return
        for i in range(n):
            step[i] += size / along * direction[i]
            rest[i] -= size / along * image[i]
        before = size


@kernel
def stored_size(link, pairs, lists):
    """The number of values that ``evaluate`` stores: one per entry of the lists, or one per pair."""
    if link == LISTWISE:
        return lists.entry_ptr[lists.end] - lists.entry_ptr[lists.begin]
    return len(pairs[0])


@kernel
def maximise(link, pairs, lists, prior, games, tol, max_iter, x):
    """Newton steps from x to the maximum; their number, or max_iter + 1 if the slope stays above tol × games."""
    n = len(x)
    size = stored_size(link, pairs, lists)
    one, two = np.zeros(size), np.zeros(size)
    slope, diagonal, step, old = np.empty(n), np.empty(n), np.zeros(n), x.copy()
    number, share, length, start = 0, 1.0, np.inf, 0.0
    while True:
        for i in range(n):
            x[i] = old[i] + share * step[i]
        new_length, most = np.inf, np.inf
        if link != RAO_KUPPER or x[n - 1] > 0.0 or x[n - 1] == NEVER:
            evaluate(link, pairs, lists, prior, x, slope, diagonal, one, two)
            new_length, most = measure(slope, games)
        if not new_length <= (1.0 - 1e-4 * share) * length and share > SHORTEST:
            share *= 0.5
            continue
        if most <= tol or number == max_iter:
            return number if most <= tol else max_iter + 1
        length, number = new_length, number + 1
        if number == 1:
            start = length
        newton_step(link, pairs, lists, prior, x, slope, diagonal, one, two, min(0.1, length / start), step)
        share = store_and_limit(x, step, old)


@kernel
def store_and_limit(x, step, old):
    """old = x; returns the share of the step, up to 1, that moves no unknown by more than FARTHEST."""
    farthest = 0.0
    for i in range(len(x)):
        old[i] = x[i]
        farthest = max(farthest, abs(step[i]))
    return min(1.0, FARTHEST / farthest) if farthest > 0.0 else 1.0


@kernel
def measure(slope, games):
    """The length of the slope, and the largest slope of any unknown per game."""
    squares, most = 0.0, 0.0
    for i in range(len(slope)):
        squares += slope[i] * slope[i]
        most = max(most, abs(slope[i]) / games[i])
    return math.sqrt(squares), most


@kernel
def fit_pairs(link, pairs, lists, precision, tol, max_iter, tie, out):
    """Strengths from one set of pairs, starting at ``out`` and ``tie``; ties are half wins if the link has no ties.

    If ``out`` is all 0, the log odds of an item's wins are a better start. ``tie`` becomes log(nu) of Davidson or
    log(theta) of Rao and Kupper, or NEVER.
    """
    left, right, won, lost, tied = pairs
    n = len(out)
    x = np.empty(n + 1)
    x[:n] = out
    x[n] = 1.0 if tie[0] == NEVER else tie[0]
    if link in (LOGISTIC, PROBIT):
        won, lost = won + 0.5 * tied, lost + 0.5 * tied
    if link in (LOGISTIC, PROBIT) or tied.sum() == 0.0:
        tied = np.zeros(len(tied))
        x[n] = NEVER
    games, wins = np.full(n + 1, precision), np.zeros(n)
    for p in range(len(left)):
        total = won[p] + lost[p] + tied[p]
        games[left[p]] += total
        games[right[p]] += total
        wins[left[p]] += won[p] + 0.5 * tied[p]
        wins[right[p]] += lost[p] + 0.5 * tied[p]
    games[n] += games[:n].sum()
    if not np.any(out):
        for i in range(n):
            x[i] = math.log((wins[i] + 1.0) / (games[i] - precision - wins[i] + 1.0))
    steps = maximise(link, (left, right, won, lost, tied), lists, (0.0, 0.0, precision), games, tol, max_iter, x)
    out[:] = x[:n]
    centre(groups_of_pairs(n, left, right), out)
    tie[0] = x[n]
    return steps


@over_queries
def pair_strengths(first, last, lists, most, link, precision, tol, max_iter, steps, ties, out):
    """Strengths of every query from its pairs; ``ties`` gets the tie parameter, ``steps`` the Newton steps."""
    for q in range(first, last):
        lo, hi = lists.slot_ptr[q], lists.slot_ptr[q + 1]
        pairs, query = count_pairs(q, most[q], lists), lists_of_query(q, lists)
        steps[q] = fit_pairs(link, pairs, query, precision, tol, max_iter, ties[q : q + 1], out[lo:hi])


@over_queries
def list_strengths(first, last, lists, link, shape, rate, precision, tol, max_iter, steps, out):
    """Plackett–Luce strengths of every query from its lists, starting at ``out``; ``link`` is LISTWISE.

    It is an argument because Numba would compile all other kernels a second time for a constant.
    """
    nobody = np.zeros(0, np.int32)
    nothing = np.zeros(0)
    for q in range(first, last):
        query = lists_of_query(q, lists)
        lo, n = query.lo, lists.slot_ptr[q + 1] - query.lo
        x = np.zeros(n + 1)
        x[:n] = out[lo : lo + n]
        games = np.full(n + 1, precision + shape)
        add_games(query, 0, games)
        pairs = (nobody, nobody, nothing, nothing, nothing)
        steps[q] = maximise(link, pairs, query, (shape, rate, precision), games, tol, max_iter, x)
        out[lo : lo + n] = x[:n]
        if precision > 0.0:
            centre(groups_of_lists(n, query), out[lo : lo + n])


@kernel
def add_games(lists, less, games):
    """Add to each item the weighted lengths of the lists that have it, each reduced by ``less``."""
    entry_ptr = lists.entry_ptr
    for m in range(lists.begin, lists.end):
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            games[lists.entry_slot[e] - lists.lo] += lists.list_weight[m] * (entry_ptr[m + 1] - entry_ptr[m] - less)


@kernel
def information(link, pairs, lists, prior, x, out):
    """out = the curvature at x as a matrix, column by column."""
    n = len(x)
    size = stored_size(link, pairs, lists)
    one, two, slope, diagonal = np.zeros(size), np.zeros(size), np.empty(n), np.empty(n)
    evaluate(link, pairs, lists, prior, x, slope, diagonal, one, two)
    unit, column = np.zeros(n), np.empty(n)
    for k in range(n):
        unit[k] = 1.0
        curve_times(link, pairs, lists, prior, x, diagonal, one, two, unit, column)
        unit[k] = 0.0
        for i in range(n):
            out[i, k] = column[i]


@kernel
def list_information(lists, shape, rate, precision, s, out):
    """out = the Plackett–Luce curvature of one query at strengths s; the last row and column are for ties."""
    nobody, nothing = np.zeros(0, np.int32), np.zeros(0)
    x = np.zeros(len(s) + 1)
    x[: len(s)] = s
    information(LISTWISE, (nobody, nobody, nothing, nothing, nothing), lists, (shape, rate, precision), x, out)
