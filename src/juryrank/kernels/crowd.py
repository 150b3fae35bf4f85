"""Bradley–Terry with a reliability of each expert.

An expert with reliability r reports that the first item of a pair wins with probability r P + (1 - r)(1 - P), where P
is the probability that it wins. Strengths are estimated by Newton's method, with the curvature of a pair at least a
tenth of the expected one (the likelihood is not concave), solved by conjugate gradients; a step is halved while it
decreases the likelihood.

Comparisons are not stored: each pass visits the pairs of an item with later items of the same lists, whose entries are
in the order of the slots, and adds them up in a row that stays in the nearest cache.
"""

import cython
import numpy as np
from cython.cimports.libc.math import exp, log

from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.choices import LOGISTIC
    from juryrank.kernels.elements import Float, Int
    from juryrank.kernels.lists import Lists, PairCounter, Pairs, room_for_pairs
    from juryrank.kernels.pairwise import SlotIndex
    from juryrank.kernels.ragged import longest
    from juryrank.kernels.strengths import INFINITY, SHORTEST, Newton

NOISE = cython.declare(cython.double, 1e-13)  # relative decrease of the likelihood that rounding can cause
LARGEST = cython.declare(cython.double, 300.0)  # of a strength whose exponential is used
# A product of probabilities is replaced by its logarithm before it can become 0.
SMALLEST = cython.declare(cython.double, 1e-150)


@over_queries
def list_pairs(
    first: cython.longlong, last: cython.longlong, lists: Lists, most: Int[::1], pair_ptr: Int[::1],
    n_pairs: cython.longlong[::1], left: cython.int[::1], right: cython.int[::1],
):  # fmt: skip
    """The distinct pairs of every query, ordered by their first item."""
    counter: PairCounter = PairCounter(first, last, lists, most)
    pairs = counter.pairs
    with cython.nogil:
        for q in range(first, last):
            counter.count(q)
            n_pairs[q] = pairs.count
            for p in range(pairs.count):
                left[pair_ptr[q] + p], right[pair_ptr[q] + p] = pairs.left[p], pairs.right[p]


@cython.final
@cython.cclass
class Crowd:
    """The comparisons of one query at a time, of the queries first:last; ``newton`` has the pairs and the strengths."""

    def __init__(
        self, first: cython.longlong, last: cython.longlong, lists: Lists, pairs: Pairs, reliability, correct, precision
    ):
        self.lists, self.index, self.reliability, self.correct = (
            lists,
            SlotIndex(first, last, lists),
            reliability,
            correct,
        )
        self.newton = Newton(first, last, lists, pairs, LOGISTIC, 0.0, 0.0, precision)
        self.pull, self.curve = np.empty(pairs.left.shape[0]), self.newton.one
        n = longest(first, last, lists.slot_ptr)
        self.rows = np.zeros((n, 3))  # slope, curvature, expected curvature
        self.terms = np.empty((5, n))
        self.chance = np.empty(longest(first, last, lists.list_ptr))

    def evaluate(self):
        """Slope and curvature of each pair, and the expected correct comparisons of each list; the log likelihood."""
        ptr, rows, terms, chance = self.index.ptr, self.rows, self.terms, self.chance
        entry_slot, entry_rank, worth = self.lists.entry_slot, self.lists.entry_rank, self.newton.worth
        lo, n, q = self.index.lo, self.index.n, self.newton.q
        begin, end = self.lists.list_ptr[q], self.lists.list_ptr[q + 1]
        left, right, n_pairs = self.newton.pairs.left, self.newton.pairs.right, self.newton.pairs.count
        p: cython.longlong = 0
        value = 0.0
        for i in range(n):
            worth[i] = exp(min(max(self.newton.x[i], -LARGEST), LARGEST))
        for m in range(begin, end):
            self.correct[m] = 0.0
            chance[m - begin] = 1.0  # the square of the probability of a list, as far as it was visited
        for i in range(n):
            for t in range(ptr[i], ptr[i + 1]):
                m, at = self.index.lists[t], self.index.entries[t]
                r, w, own, rank = self.reliability[m], self.lists.list_weight[m], worth[i], entry_rank[at]
                start, size = at + 1, self.lists.entry_ptr[m + 1] - at - 1
                for k in range(size):
                    terms[0, k] = worth[entry_slot[start + k] - lo]
                for k in range(size):  # this loop and the next have no branches, so that they are vectorised
                    other = entry_rank[start + k]
                    terms[1, k] = 0.5 * ((1.0 if other > rank else 0.0) + (1.0 if other >= rank else 0.0))
                for k in range(size):
                    won, share = terms[1, k], 1.0 / (own + terms[0, k])
                    up, down = share * own, share * terms[0, k]
                    for_first, for_second = r * up + (1.0 - r) * down, r * down + (1.0 - r) * up
                    scale = 1.0 / (for_first * for_second)
                    win, loss = won * for_second * scale, (1.0 - won) * for_first * scale
                    turn = (2.0 * r - 1.0) * up * down
                    terms[0, k] = w * turn * (win - loss)
                    terms[1, k] = (
                        w * turn * (turn * scale * (win * for_second + loss * for_first) - (down - up) * (win - loss))
                    )
                    terms[2, k] = w * turn * turn * scale
                    terms[3, k] = win * up + loss * down
                    terms[4, k] = (for_first if won > 0.0 else for_second) * (for_first if won == 1.0 else for_second)
                right_ones: cython.double = 0
                squared: cython.double = chance[m - begin]
                for k in range(size):
                    j = entry_slot[start + k] - lo
                    rows[j, 0] += terms[0, k]
                    rows[j, 1] += terms[1, k]
                    rows[j, 2] += terms[2, k]
                    right_ones += terms[3, k]
                    squared *= max(terms[4, k], SMALLEST)
                    if squared < SMALLEST:
                        value += 0.5 * w * log(squared)
                        squared = 1.0
                self.correct[m] += w * r * right_ones
                chance[m - begin] = squared
            while p < n_pairs and left[p] == i:
                j = right[p]
                self.pull[p], self.curve[p] = rows[j, 0], max(rows[j, 1], 0.1 * rows[j, 2])
                rows[j, 0], rows[j, 1], rows[j, 2] = 0.0, 0.0, 0.0
                p += 1
        for m in range(begin, end):
            value += 0.5 * self.lists.list_weight[m] * log(chance[m - begin])
        return value

    def maximise(self, precision, tol, max_iter):
        """Newton steps from x; their number, or max_iter + 1 if the slope stays above tol × games."""
        n, x, slope, diagonal = self.newton.n + 1, self.newton.x, self.newton.slope, self.newton.diagonal
        left, right = self.newton.pairs.left, self.newton.pairs.right
        number: cython.longlong = 0
        share, best = 1.0, -INFINITY
        for i in range(n):
            self.newton.old[i], self.newton.step[i] = x[i], 0.0
        while True:
            for i in range(n):
                x[i] = self.newton.old[i] + share * self.newton.step[i]
            value = self.evaluate()
            for i in range(n):
                value -= 0.5 * precision * x[i] * x[i]
                slope[i], diagonal[i] = -precision * x[i], precision
            for p in range(self.newton.pairs.count):
                slope[left[p]] += self.pull[p]
                slope[right[p]] -= self.pull[p]
                diagonal[left[p]] += self.curve[p]
                diagonal[right[p]] += self.curve[p]
            most: cython.double = 0
            for i in range(n):
                most = max(most, abs(slope[i]) / self.newton.games[i])
            if value < best - NOISE * abs(best) and share > SHORTEST and most > tol:
                share *= 0.5
                continue
            if most <= tol or number == max_iter:
                return number if most <= tol else max_iter + 1
            best, number = value, number + 1
            self.newton.find_step(1e-3)
            share = self.newton.store_and_limit()


@over_queries
def crowd_strengths(
    first: cython.longlong, last: cython.longlong, lists: Lists, pair_ptr: Int[::1], n_pairs: Int[::1],
    left: cython.int[::1], right: cython.int[::1], reliability: Float[::1], precision: cython.double,
    tol: cython.double, max_iter: cython.longlong, steps: cython.longlong[::1], correct: cython.double[::1],
    out: cython.double[::1],
):  # fmt: skip
    """Strengths of every query, given the reliability of the expert of each list; starts at ``out``."""
    room: cython.longlong = 0
    for q in range(first, last):
        room = max(room, n_pairs[q])
    pairs: Pairs = room_for_pairs(room)
    crowd: Crowd = Crowd(first, last, lists, pairs, reliability, correct, precision)
    newton = crowd.newton
    with cython.nogil:
        for q in range(first, last):
            begin, end = pair_ptr[q], pair_ptr[q] + n_pairs[q]
            pairs.left, pairs.right, pairs.count = left[begin:end], right[begin:end], n_pairs[q]
            here: cython.double[::1] = out[lists.slot_ptr[q] : lists.slot_ptr[q + 1]]
            newton.start(q, here)
            newton.add_games(1)
            crowd.index.fill(q)
            steps[q] = crowd.maximise(precision, tol, max_iter)
            for i in range(newton.n):
                here[i] = newton.x[i]
