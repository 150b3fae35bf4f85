"""Strengths of the items of a query: the maximum of a concave likelihood with a prior, by Newton's method.

The unknowns are the strengths and, last, one parameter for ties. The slope of the log prior is ``shape - rate exp(s) -
precision s``: a normal prior on s, or a Gamma prior on exp(s). Newton steps are solved by conjugate gradients with a
diagonal preconditioner, so that no matrix is built; a step is halved while it does not reduce the slope. Under the
normal prior every group of items that are compared only with each other has mean 0 at the maximum; with a weak prior
rounding would decide about that mean, so it is set at the end.
"""

import cython
import numpy as np
from cython.cimports.libc.math import exp, log, sqrt

from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.choices import (
        DAVIDSON,
        LISTWISE,
        LOGISTIC,
        NO_TIES,
        PROBIT,
        RAO_KUPPER,
        curve_over_lists,
        davidson,
        pass_over_lists,
        pass_over_pairs,
        rao_kupper,
    )
    from juryrank.kernels.elements import Float, Int
    from juryrank.kernels.lists import (
        Lists,
        PairCounter,
        Pairs,
        centre,
        groups_of_lists,
        groups_of_pairs,
        room_for_pairs,
    )
    from juryrank.kernels.ragged import longest

FARTHEST = 5.0  # the most that one step moves a strength: odds of 150
SHORTEST = 1e-6  # a step this short is always accepted
INFINITY = float("inf")


@cython.final
@cython.cclass
class Newton:
    """The likelihood of one query at a time, of the queries first:last, and the memory of Newton's method.

    The likelihood is that of ``pairs``, or of ``lists`` if the link is LISTWISE. ``x`` is the strengths of ``n`` items
    and the tie parameter; ``one`` and ``two`` have a value for each pair or entry.
    """

    def __init__(
        self, first: cython.longlong, last: cython.longlong, lists: Lists, pairs: Pairs, link, shape, rate, precision
    ):
        self.lists, self.pairs, self.link = lists, pairs, link
        self.shape, self.rate, self.precision = shape, rate, precision
        stored = pairs.left.shape[0]
        if link == LISTWISE:
            for q in range(first, last):
                begin, end = lists.list_ptr[q], lists.list_ptr[q + 1]
                stored = max(stored, lists.entry_ptr[end] - lists.entry_ptr[begin])
        n = longest(first, last, lists.slot_ptr) + 1
        rows: cython.double[:, ::1] = np.empty((11, n))
        self.x, self.old, self.step, self.slope, self.diagonal = rows[0], rows[1], rows[2], rows[3], rows[4]
        self.rest, self.image, self.direction, self.worth = rows[5], rows[6], rows[7], rows[8]
        self.moved, self.games = rows[9], rows[10]
        rows = np.empty((3, stored))
        self.one, self.two, self.mean = rows[0], rows[1], rows[2]
        self.root = np.empty(n, np.int64)

    def start(self, q, strengths):
        """Go to query q, at its strengths and a tie parameter of 0; ``games`` is the prior."""
        self.q, self.n = q, self.lists.slot_ptr[q + 1] - self.lists.slot_ptr[q]
        for i in range(self.n + 1):
            self.x[i] = strengths[i] if i < self.n else 0.0
            self.games[i] = self.precision + self.shape

    def evaluate(self):
        """Slope and diagonal curvature at x; ``one`` and ``two`` store what the product with the curvature needs."""
        n, x, worth, slope, diagonal = self.n, self.x, self.worth, self.slope, self.diagonal
        shape, rate, precision = self.shape, self.rate, self.precision
        for i in range(n):
            worth[i] = exp(x[i])
            pull = rate * worth[i] if rate > 0.0 else 0.0
            slope[i] = shape - pull - precision * x[i]
            diagonal[i] = pull + precision
        slope[n], diagonal[n] = 0.0, 0.0
        if self.link == LISTWISE:
            begin, end = self.lists.list_ptr[self.q], self.lists.list_ptr[self.q + 1]
            lo = self.lists.slot_ptr[self.q]
            pass_over_lists(self.lists, begin, end, lo, worth, slope, diagonal, self.one, self.two)
        else:
            pass_over_pairs(self.link, self.pairs, n, x, worth, slope, diagonal, self.one, self.two)
        if (self.link == DAVIDSON or self.link == RAO_KUPPER) and x[n] != NO_TIES:
            third = precision / 3.0  # pseudo-games between equal items, a third of them ties, keep it finite
            terms = davidson(0.0, x[n], third, third, third)
            if self.link == RAO_KUPPER:
                terms = rao_kupper(0.0, x[n], third, third, third)
            slope[n] += terms[2]
            diagonal[n] += terms[3]
        else:
            diagonal[n] = 1.0

    def curve_times(self, v, out):
        """out = curvature where ``evaluate`` was last, times v."""
        n, one, two = self.n, self.one, self.two
        if self.link == LISTWISE:
            for i in range(n):
                self.moved[i] = self.worth[i] * v[i]
                out[i] = ((self.rate * self.worth[i] if self.rate > 0.0 else 0.0) + self.precision) * v[i]
            out[n] = v[n]
            begin, end = self.lists.list_ptr[self.q], self.lists.list_ptr[self.q + 1]
            lo = self.lists.slot_ptr[self.q]
            curve_over_lists(self.lists, begin, end, lo, self.worth, self.moved, one, two, self.mean, out)
            return
        left, right = self.pairs.left, self.pairs.right
        for i in range(n + 1):
            out[i] = self.diagonal[i] * v[i]
        if self.link == LOGISTIC or self.link == PROBIT:
            i, taken = 0, 0.0  # the sum of a row stays in a register
            for p in range(self.pairs.count):
                if left[p] != i:
                    out[i] -= taken
                    i, taken = left[p], 0.0
                taken += one[p] * v[right[p]]
                out[right[p]] -= one[p] * v[i]
            out[i] -= taken
            return
        for p in range(self.pairs.count):
            i, j = left[p], right[p]
            out[i] += two[p] * v[n] - one[p] * v[j]
            out[j] -= two[p] * v[n] + one[p] * v[i]
            out[n] += two[p] * (v[i] - v[j])

    def find_step(self, accuracy):
        """step = the solution of curvature times step = slope, to a relative residual of ``accuracy``."""
        n, step, diagonal = self.n + 1, self.step, self.diagonal
        rest, image, direction = self.rest, self.image, self.direction
        before, enough = 1.0, 0.0
        for i in range(n):
            rest[i], step[i], direction[i] = self.slope[i], 0.0, 0.0
        for number in range(4 * n + 20):
            size = 0.0
            for i in range(n):
                size += rest[i] * rest[i] / diagonal[i]
            if number == 0:
                enough = accuracy * accuracy * size
            elif size <= enough:
                return
            turn = size / before if number else 0.0
            for i in range(n):
                direction[i] = rest[i] / diagonal[i] + turn * direction[i]
            self.curve_times(direction, image)
            along = 0.0
            for i in range(n):
                along += direction[i] * image[i]
            if not along > 0.0:
                return
            share = size / along
            for i in range(n):
                step[i] += share * direction[i]
                rest[i] -= share * image[i]
            before = size

    def store_and_limit(self):
        """old = x; returns the share of the step, up to 1, that moves no unknown by more than FARTHEST."""
        farthest: cython.double = 0.0
        for i in range(self.n + 1):
            self.old[i] = self.x[i]
            farthest = max(farthest, abs(self.step[i]))
        return min(1.0, FARTHEST / farthest) if farthest > 0.0 else 1.0

    def maximise(self, tol, max_iter):
        """Newton steps from x to the maximum; their number, or max_iter + 1 if the slope stays above tol × games."""
        n, x, old, step = self.n, self.x, self.old, self.step
        for i in range(n + 1):
            old[i], step[i] = x[i], 0.0
        number: cython.longlong = 0
        share, length, start = 1.0, INFINITY, 0.0
        while True:
            for i in range(n + 1):
                x[i] = old[i] + share * step[i]
            new_length = INFINITY  # of the slope
            most: cython.double = INFINITY  # the largest slope of any unknown per game
            if self.link != RAO_KUPPER or x[n] > 0.0 or x[n] == NO_TIES:
                self.evaluate()
                squares, most = 0.0, 0.0
                for i in range(n + 1):
                    squares += self.slope[i] * self.slope[i]
                    most = max(most, abs(self.slope[i]) / self.games[i])
                new_length = sqrt(squares)
            if not new_length <= (1.0 - 1e-4 * share) * length and share > SHORTEST:
                share *= 0.5
                continue
            if most <= tol or number == max_iter:
                return number if most <= tol else max_iter + 1
            length, number = new_length, number + 1
            if number == 1:
                start = length
            self.find_step(min(0.1, length / start))
            share = self.store_and_limit()

    def add_games(self, less):
        """Add to each item the weighted lengths of the lists that have it, each reduced by ``less``."""
        games, lo, entry_ptr = self.games, self.lists.slot_ptr[self.q], self.lists.entry_ptr
        for m in range(self.lists.list_ptr[self.q], self.lists.list_ptr[self.q + 1]):
            weight = self.lists.list_weight[m] * (entry_ptr[m + 1] - entry_ptr[m] - less)
            for e in range(entry_ptr[m], entry_ptr[m + 1]):
                games[self.lists.entry_slot[e] - lo] += weight

    def fit_pairs(self, tol, max_iter, tie, out):
        """Strengths from the pairs, starting at x and ``tie``; ties become half wins if the link has no ties.

        If x is all 0, the log odds of an item's wins are a better start. ``tie`` becomes log(nu) of Davidson or
        log(theta) of Rao and Kupper, or NEVER.
        """
        n, x, games, wins = self.n, self.x, self.games, self.slope
        left, right = self.pairs.left, self.pairs.right
        won, lost, tied = self.pairs.won, self.pairs.lost, self.pairs.tied
        half: cython.bint = self.link == LOGISTIC or self.link == PROBIT
        known: cython.bint = False
        ties, all_games = 0.0, 0.0
        for i in range(n):
            wins[i] = 0.0
            if x[i] != 0.0:
                known = True
        for p in range(self.pairs.count):
            if half:
                won[p], lost[p], tied[p] = won[p] + 0.5 * tied[p], lost[p] + 0.5 * tied[p], 0.0
            ties += tied[p]
            total = won[p] + lost[p] + tied[p]
            games[left[p]] += total
            games[right[p]] += total
            wins[left[p]] += won[p] + 0.5 * tied[p]
            wins[right[p]] += lost[p] + 0.5 * tied[p]
        for i in range(n):
            all_games += games[i]
            if not known:
                x[i] = log((wins[i] + 1.0) / (games[i] - self.precision - wins[i] + 1.0))
        games[n] += all_games
        x[n] = NO_TIES if ties == 0.0 else 1.0 if tie[0] == NO_TIES else tie[0]
        steps = self.maximise(tol, max_iter)
        for i in range(n):
            out[i] = x[i]
        tie[0] = x[n]
        groups_of_pairs(n, self.pairs, self.root)
        centre(n, self.root, self.rest, self.image, out)
        return steps

    def fit_lists(self, tol, max_iter, out):
        """Plackett–Luce strengths from the lists, starting at x."""
        self.add_games(0)
        steps = self.maximise(tol, max_iter)
        for i in range(self.n):
            out[i] = self.x[i]
        if self.precision > 0.0:
            groups_of_lists(self.q, self.lists, self.root)
            centre(self.n, self.root, self.rest, self.image, out)
        return steps

    def information(self, out):
        """out = the curvature at x as a matrix, column by column."""
        unit, column = self.direction, self.image
        self.evaluate()
        for i in range(self.n + 1):
            unit[i] = 0.0
        for k in range(self.n + 1):
            unit[k] = 1.0
            self.curve_times(unit, column)
            unit[k] = 0.0
            for i in range(self.n + 1):
                out[i, k] = column[i]


@over_queries
def pair_strengths(
    first: cython.longlong, last: cython.longlong, lists: Lists, most: Int[::1], entry_value: Float[::1],
    link: cython.longlong, precision: cython.double, tol: cython.double, max_iter: cython.longlong,
    steps: cython.longlong[::1], ties: cython.double[::1], out: cython.double[::1],
):  # fmt: skip
    """Strengths of every query from its pairs; ``ties`` gets the tie parameter, ``steps`` the Newton steps.

    If entries have values, a pair counts by how far apart a list puts its items, not once.
    """
    counter: PairCounter = PairCounter(first, last, lists, most)
    newton: Newton = Newton(first, last, lists, counter.pairs, link, 0.0, 0.0, precision)
    with cython.nogil:
        for q in range(first, last):
            if entry_value.shape[0]:
                counter.count_differences(q, entry_value)
            else:
                counter.count(q)
            here: cython.double[::1] = out[lists.slot_ptr[q] : lists.slot_ptr[q + 1]]
            newton.start(q, here)
            steps[q] = newton.fit_pairs(tol, max_iter, ties[q : q + 1], here)


@over_queries
def list_strengths(
    first: cython.longlong, last: cython.longlong, lists: Lists, shape: cython.double, rate: cython.double,
    precision: cython.double, tol: cython.double, max_iter: cython.longlong, steps: cython.longlong[::1],
    out: cython.double[::1],
):  # fmt: skip
    """Plackett–Luce strengths of every query from its lists, starting at ``out``."""
    newton: Newton = Newton(first, last, lists, room_for_pairs(0), LISTWISE, shape, rate, precision)
    with cython.nogil:
        for q in range(first, last):
            here: cython.double[::1] = out[lists.slot_ptr[q] : lists.slot_ptr[q + 1]]
            newton.start(q, here)
            steps[q] = newton.fit_lists(tol, max_iter, here)


def list_information(
    q: cython.longlong, lists: Lists, shape: cython.double, rate: cython.double, precision: cython.double,
    s: Float[::1], out: cython.double[:, ::1],
):  # fmt: skip
    """out = the Plackett–Luce curvature of query q at strengths s; the last row and column are for ties."""
    newton: Newton = Newton(q, q + 1, lists, room_for_pairs(0), LISTWISE, shape, rate, precision)
    with cython.nogil:
        newton.start(q, s)
        newton.information(out)
