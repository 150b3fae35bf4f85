"""Ratings that are updated after every list, in the order in which lists are stored: Elo, TrueSkill, Weng and Lin.

A list is one game: every move is computed from the ratings before it. A list of weight w is w games in a row; a
fraction of a game moves ratings by that fraction.
"""

import math

import numpy as np

from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.links import mills

ELO, TRUESKILL, WENG_LIN_CHOICES, WENG_LIN_PAIRS = 0, 1, 2, 3
MOST_GAMES = 1_000_000  # limit of one list: a second of TrueSkill
SWEEPS = 50  # over one list; messages converge after a few


@kernel
def elo_moves(slot, rank, mean, k, scale, move):
    """k times the actual minus the expected wins of each item, averaged over its opponents."""
    n = len(slot)
    for a in range(n):
        for b in range(a + 1, n):
            expected = 1.0 / (1.0 + math.exp((mean[slot[b]] - mean[slot[a]]) / scale))
            won = 1.0 if rank[a] < rank[b] else 0.0 if rank[a] > rank[b] else 0.5
            move[a] += (won - expected) * k / (n - 1)
            move[b] -= (won - expected) * k / (n - 1)


@kernel
def choice_moves(slot, rank, mean, spread, beta, move, shrink):
    """Weng and Lin, algorithm 4: the list as choices from the top."""
    n = len(slot)
    total = 0.0
    for a in range(n):
        total += spread[slot[a]] ** 2 + beta * beta
    c = math.sqrt(total)
    worth, left, tied = np.empty(n), np.zeros(n), np.zeros(n)
    for a in range(n):
        worth[a] = math.exp(mean[slot[a]] / c)
    for a in range(n):
        for b in range(n):
            left[a] += worth[b] if rank[b] >= rank[a] else 0.0
            tied[a] += 1.0 if rank[b] == rank[a] else 0.0
    for a in range(n):
        variance = spread[slot[a]] ** 2
        for b in range(n):
            if rank[b] <= rank[a]:
                chance = worth[a] / left[b]
                move[a] += variance / c * ((1.0 if a == b else 0.0) - chance) / tied[b]
                shrink[a] += variance / (c * c) * math.sqrt(variance) / c * chance * (1.0 - chance) / tied[b]


@kernel
def pair_moves(slot, rank, mean, spread, beta, move, shrink):
    """Weng and Lin, algorithm 1: the list as games of all its pairs."""
    n = len(slot)
    for a in range(n):
        variance = spread[slot[a]] ** 2
        for b in range(n):
            if a == b:
                continue
            c = math.sqrt(variance + spread[slot[b]] ** 2 + 2.0 * beta * beta)
            chance = 1.0 / (1.0 + math.exp((mean[slot[b]] - mean[slot[a]]) / c))
            won = 1.0 if rank[b] > rank[a] else 0.5 if rank[b] == rank[a] else 0.0
            move[a] += variance / c * (won - chance)
            shrink[a] += math.sqrt(variance) / c * variance / (c * c) * chance * (1.0 - chance)


@kernel
def order_messages(upper, lower):
    """Messages (precision, precision × mean) to two performances of which the first is the higher one."""
    m1, v1, m2, v2 = upper[1] / upper[0], 1.0 / upper[0], lower[1] / lower[0], 1.0 / lower[0]
    mean, variance = m1 - m2, v1 + v2
    deviation = math.sqrt(variance)
    tilt = mills(mean / deviation)
    kept = max(1.0 - tilt * (tilt + mean / deviation), 1e-12)
    told = 1.0 / (variance * kept) - 1.0 / variance
    if not told > 0.0:
        return (0.0, 0.0), (0.0, 0.0)
    centre = ((mean + deviation * tilt) / (variance * kept) - mean / variance) / told
    up, down = 1.0 / (1.0 / told + v2), 1.0 / (1.0 / told + v1)
    return (up, up * (centre + m2)), (down, down * (m1 - centre))


@kernel
def performances(group, precision, weighted):
    """Add the messages of its neighbours to each group's performance, by expectation propagation along the list."""
    n = len(precision)
    from_below, from_above = np.zeros((n, 2)), np.zeros((n, 2))
    for _ in range(SWEEPS):
        moved = 0.0
        for turn in range(2 * (n - 1)):
            g = turn if turn < n - 1 else 2 * n - 3 - turn
            upper = (precision[g] + from_above[g, 0], weighted[g] + from_above[g, 1])
            lower = (precision[g + 1] + from_below[g + 1, 0], weighted[g + 1] + from_below[g + 1, 1])
            up, down = order_messages(upper, lower)
            moved = max(moved, abs(up[1] - from_below[g, 1]), abs(down[1] - from_above[g + 1, 1]))
            from_below[g, 0], from_below[g, 1] = up
            from_above[g + 1, 0], from_above[g + 1, 1] = down
        if moved < 1e-10:
            break
    for g in range(n):
        precision[g] += from_below[g, 0] + from_above[g, 0]
        weighted[g] += from_below[g, 1] + from_above[g, 1]


@kernel
def skill_moves(slot, rank, mean, spread, beta, move, shrink):
    """TrueSkill: skills given the order of the performances, with equal performances of tied items."""
    n = len(slot)
    group = np.zeros(n, np.int64)
    for a in range(1, n):
        group[a] = group[a - 1] + (1 if rank[a] != rank[a - 1] else 0)
    precision, weighted = np.zeros(group[n - 1] + 1), np.zeros(group[n - 1] + 1)
    for a in range(n):
        own = 1.0 / (spread[slot[a]] ** 2 + beta * beta)
        precision[group[a]] += own
        weighted[group[a]] += own * mean[slot[a]]
    performances(group, precision, weighted)
    for a in range(n):
        variance = spread[slot[a]] ** 2
        own = 1.0 / (variance + beta * beta)
        others = precision[group[a]] - own
        if others > 0.0:
            told = 1.0 / (1.0 / others + beta * beta)
            centre = (weighted[group[a]] - own * mean[slot[a]]) / others
            share = told / (1.0 / variance + told)
            move[a] = share * (centre - mean[slot[a]])
            shrink[a] = share


@kernel
def play(kind, slot, rank, weight, mean, spread, step, scale, drift):
    """Update the ratings of the items of one list, ``weight`` times; ``step`` and ``scale`` are Elo's k and scale.

    Callers check that ``weight`` is at most ``MOST_GAMES``; the loop ends there whatever the weight.
    """
    n = len(slot)
    if n < 2:
        return
    move, shrink = np.empty(n), np.empty(n)
    for game in range(MOST_GAMES):
        part = min(weight - game, 1.0)
        if not part > 0.0:
            break
        for a in range(n):
            move[a], shrink[a] = 0.0, 0.0
            if kind != ELO:
                spread[slot[a]] = math.sqrt(spread[slot[a]] ** 2 + part * drift * drift)
        if kind == ELO:
            elo_moves(slot, rank, mean, step, scale, move)
        elif kind == TRUESKILL:
            skill_moves(slot, rank, mean, spread, scale, move, shrink)
        elif kind == WENG_LIN_CHOICES:
            choice_moves(slot, rank, mean, spread, scale, move, shrink)
        else:
            pair_moves(slot, rank, mean, spread, scale, move, shrink)
        for a in range(n):
            mean[slot[a]] += part * move[a]
            if kind != ELO:
                spread[slot[a]] *= math.sqrt(max(1.0 - part * shrink[a], 1e-4))


@over_queries
def play_all(
    first, last, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, kind, step, scale, drift, spread, mean
):
    """Play the lists of every query in their order; ``mean`` and ``spread`` hold the ratings of all slots."""
    for q in range(first, last):
        for m in range(list_ptr[q], list_ptr[q + 1]):
            lo, hi = entry_ptr[m], entry_ptr[m + 1]
            play(kind, entry_slot[lo:hi], entry_rank[lo:hi], list_weight[m], mean, spread, step, scale, drift)
