"""Ratings that are updated after every list, in the order in which lists are stored: Elo, TrueSkill, Weng and Lin.

A list is one game: every move is computed from the ratings before it. A list of weight w is w games in a row; a
fraction of a game moves ratings by that fraction.
"""

import cython
import numpy as np
from cython.cimports.libc.math import exp, sqrt

from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.choices import mills
    from juryrank.kernels.elements import Float, Int, Int32
    from juryrank.kernels.ragged import longest

    ELO, TRUESKILL, WENG_LIN_CHOICES, WENG_LIN_PAIRS = range(4)

LIMIT = cython.declare(cython.longlong, 1_000_000)  # of one list: a second of TrueSkill
MOST_GAMES = LIMIT
SWEEPS = cython.declare(cython.longlong, 50)  # over one list; messages converge after a few


@cython.final
@cython.cclass
class Game:
    """One list at a time, of up to ``room`` items: their ranks and ratings, and how a game moves the ratings.

    ``step`` and ``scale`` are Elo's k and scale; for the other kinds ``scale`` is the spread of a performance.
    """

    def __init__(self, room, kind, step, scale, drift):
        self.room, self.kind, self.step, self.scale, self.drift = room, kind, step, scale, drift
        self.rank, self.mean, self.spread, self.move, self.shrink = np.empty((5, room))
        self.worth, self.left, self.tied, self.precision, self.weighted = np.empty((5, room))
        self.from_below, self.from_above = np.empty((2, room, 2))
        self.group = np.empty(room, np.int64)

    def __reduce__(self):
        return Game, (self.room, self.kind, self.step, self.scale, self.drift)

    def update(
        self, slot: Int32[::1], rank: Float[::1], weight: cython.double, mean: cython.double[::1],
        spread: cython.double[::1],
    ):  # fmt: skip
        """``play``, for Python."""
        with cython.nogil:
            self.play(slot, rank, weight, mean, spread)

    def elo_moves(self):
        """k times the actual minus the expected wins of each item, averaged over its opponents."""
        n, k, scale, rank, mean, move = self.n, self.step, self.scale, self.rank, self.mean, self.move
        for a in range(n):
            for b in range(a + 1, n):
                expected = 1.0 / (1.0 + exp((mean[b] - mean[a]) / scale))
                won = 1.0 if rank[a] < rank[b] else 0.0 if rank[a] > rank[b] else 0.5
                move[a] += (won - expected) * k / (n - 1)
                move[b] -= (won - expected) * k / (n - 1)

    def choice_moves(self):
        """Weng and Lin, algorithm 4: the list as choices from the top."""
        n, rank, spread, worth, left, tied = self.n, self.rank, self.spread, self.worth, self.left, self.tied
        move, shrink, total = self.move, self.shrink, 0.0
        for a in range(n):
            total += spread[a] * spread[a] + self.scale * self.scale
        c = sqrt(total)
        for a in range(n):
            worth[a], left[a], tied[a] = exp(self.mean[a] / c), 0.0, 0.0
        for a in range(n):
            for b in range(n):
                left[a] += worth[b] if rank[b] >= rank[a] else 0.0
                tied[a] += 1.0 if rank[b] == rank[a] else 0.0
        for a in range(n):
            variance = spread[a] * spread[a]
            for b in range(n):
                if rank[b] <= rank[a]:
                    chance = worth[a] / left[b]
                    move[a] += variance / c * ((1.0 if a == b else 0.0) - chance) / tied[b]
                    shrink[a] += variance / (c * c) * sqrt(variance) / c * chance * (1.0 - chance) / tied[b]

    def pair_moves(self):
        """Weng and Lin, algorithm 1: the list as games of all its pairs."""
        n, rank, mean, spread, move, shrink = self.n, self.rank, self.mean, self.spread, self.move, self.shrink
        beta = self.scale
        for a in range(n):
            variance, deviation = spread[a] * spread[a], sqrt(spread[a] * spread[a])
            for b in range(n):
                if a == b:
                    continue
                c = sqrt(variance + spread[b] * spread[b] + 2.0 * beta * beta)
                chance = 1.0 / (1.0 + exp((mean[b] - mean[a]) / c))
                won = 1.0 if rank[b] > rank[a] else 0.5 if rank[b] == rank[a] else 0.0
                move[a] += variance / c * (won - chance)
                shrink[a] += deviation / c * variance / (c * c) * chance * (1.0 - chance)

    def performances(self, n):
        """Add the messages of its neighbours to the performance of each of n groups, by expectation propagation."""
        precision, weighted, from_below, from_above = self.precision, self.weighted, self.from_below, self.from_above
        for g in range(n):
            from_below[g, 0], from_below[g, 1], from_above[g, 0], from_above[g, 1] = 0.0, 0.0, 0.0, 0.0
        for _ in range(SWEEPS):
            moved: cython.double = 0
            for turn in range(2 * (n - 1)):
                g = turn if turn < n - 1 else 2 * n - 3 - turn
                up, to_up, down, to_down = order_messages(
                    precision[g] + from_above[g, 0], weighted[g] + from_above[g, 1],
                    precision[g + 1] + from_below[g + 1, 0], weighted[g + 1] + from_below[g + 1, 1],
                )  # fmt: skip
                moved = max(moved, abs(to_up - from_below[g, 1]), abs(to_down - from_above[g + 1, 1]))
                from_below[g, 0], from_below[g, 1] = up, to_up
                from_above[g + 1, 0], from_above[g + 1, 1] = down, to_down
            if moved < 1e-10:
                break
        for g in range(n):
            precision[g] += from_below[g, 0] + from_above[g, 0]
            weighted[g] += from_below[g, 1] + from_above[g, 1]

    def skill_moves(self):
        """TrueSkill: skills given the order of the performances, with equal performances of tied items."""
        n, rank, mean, spread, group = self.n, self.rank, self.mean, self.spread, self.group
        precision, weighted, beta = self.precision, self.weighted, self.scale
        for a in range(n):
            group[a] = 0 if a == 0 else group[a - 1] + (rank[a] != rank[a - 1])
            precision[a], weighted[a] = 0.0, 0.0
        for a in range(n):
            own = 1.0 / (spread[a] * spread[a] + beta * beta)
            precision[group[a]] += own
            weighted[group[a]] += own * mean[a]
        self.performances(group[n - 1] + 1)
        for a in range(n):
            variance = spread[a] * spread[a]
            own = 1.0 / (variance + beta * beta)
            others = precision[group[a]] - own
            if others > 0.0:
                told = 1.0 / (1.0 / others + beta * beta)
                centre = (weighted[group[a]] - own * mean[a]) / others
                share = told / (1.0 / variance + told)
                self.move[a] = share * (centre - mean[a])
                self.shrink[a] = share

    def play(self, slot, rank, weight, mean, spread):
        """Update the ratings of the items of one list, ``weight`` times.

        Callers check that ``weight`` is at most ``MOST_GAMES``; the loop ends there whatever the weight.
        """
        self.n = slot.shape[0]
        if self.n < 2:
            return
        for a in range(self.n):
            self.rank[a], self.mean[a], self.spread[a] = rank[a], mean[slot[a]], spread[slot[a]]
        for game in range(LIMIT):
            part = min(weight - game, 1.0)
            if not part > 0.0:
                break
            for a in range(self.n):
                self.move[a], self.shrink[a] = 0.0, 0.0
                if self.kind != ELO:
                    self.spread[a] = sqrt(self.spread[a] * self.spread[a] + part * self.drift * self.drift)
            if self.kind == ELO:
                self.elo_moves()
            elif self.kind == TRUESKILL:
                self.skill_moves()
            elif self.kind == WENG_LIN_CHOICES:
                self.choice_moves()
            else:
                self.pair_moves()
            for a in range(self.n):
                self.mean[a] += part * self.move[a]
                if self.kind != ELO:
                    self.spread[a] *= sqrt(max(1.0 - part * self.shrink[a], 1e-4))
        for a in range(self.n):
            mean[slot[a]], spread[slot[a]] = self.mean[a], self.spread[a]


def order_messages(precision_1, weighted_1, precision_2, weighted_2):
    """Messages (precision, precision × mean) to two performances of which the first is the higher one."""
    m1, v1, m2, v2 = weighted_1 / precision_1, 1.0 / precision_1, weighted_2 / precision_2, 1.0 / precision_2
    mean, variance = m1 - m2, v1 + v2
    deviation = sqrt(variance)
    tilt = mills(mean / deviation)
    kept = max(1.0 - tilt * (tilt + mean / deviation), 1e-12)
    told = 1.0 / (variance * kept) - 1.0 / variance
    if not told > 0.0:
        return 0.0, 0.0, 0.0, 0.0
    centre = ((mean + deviation * tilt) / (variance * kept) - mean / variance) / told
    up, down = 1.0 / (1.0 / told + v2), 1.0 / (1.0 / told + v1)
    return up, up * (centre + m2), down, down * (m1 - centre)


@over_queries
def play_all(
    first: cython.longlong, last: cython.longlong, list_ptr: Int[::1], entry_ptr: Int[::1], entry_slot: Int32[::1],
    entry_rank: Float[::1], list_weight: Float[::1], kind, step, scale, drift, spread: cython.double[::1],
    mean: cython.double[::1],
):  # fmt: skip
    """Play the lists of every query in their order; ``mean`` and ``spread`` hold the ratings of all slots."""
    game: Game = Game(longest(list_ptr[first], list_ptr[last], entry_ptr), kind, step, scale, drift)
    with cython.nogil:
        for m in range(list_ptr[first], list_ptr[last]):
            lo, hi = entry_ptr[m], entry_ptr[m + 1]
            game.play(entry_slot[lo:hi], entry_rank[lo:hi], list_weight[m], mean, spread)
