"""Probabilities of wins, losses, ties and choices, as functions of the strengths.

Of a pair: each link returns, for a pair with difference d, tie parameter t and weights of won, lost and tied, the slope
of the log likelihood in d, its curvature (minus the second derivative) in d, slope and curvature in t, and curvature in
d and t.

Of a list, Plackett–Luce with ties: from the top, each item is chosen among those that are left. A tied group of g items
counts as g choices from the items left, one for each item; a group at the end of the list counts as g - 1, because the
last choice is forced: the last item of a strict list makes no choice, and a tied pair is half a win for each item. The
``tail`` of a list (items that the expert did not rank but that count as last) is never chosen. Everything is computed
in one pass up each list, which sums the worth of the items left, and one pass down.
"""

import cython
from cython.cimports.libc.math import erfc, exp, expm1

if not cython.compiled:
    LOGISTIC, DAVIDSON, RAO_KUPPER, PROBIT, LISTWISE = range(5)

NEVER = float("-inf")  # the tie parameter of data without ties; both models of ties are then logistic
NO_TIES = NEVER  # for compiled code
FAR = -8.0  # below this the normal distribution is computed by its continued fraction


def davidson(d, t, won, lost, tied):
    """win : lose : tie = exp(d/2) : exp(-d/2) : exp(t)."""
    up, down, level = exp(0.5 * d), exp(-0.5 * d), exp(t)
    total = up + down + level
    up, down, level = up / total, down / total, level / total
    games = won + lost + tied
    lead = up - down
    return (
        0.5 * (won - lost - games * lead),
        0.25 * games * (up + down - lead * lead),
        tied - games * level,
        games * level * (1.0 - level),
        -0.5 * games * lead * level,
    )


def rao_kupper(d, t, won, lost, tied):
    """win = 1/(1 + exp(t - d)) with t > 0, lose likewise with -d, tie = the rest."""
    up, down = 1.0 / (1.0 + exp(t - d)), 1.0 / (1.0 + exp(t + d))
    not_down, not_up = (won + tied) * up * (1.0 - up), (lost + tied) * down * (1.0 - down)
    room = expm1(2.0 * t)
    return (
        won * (1.0 - up) - lost * (1.0 - down) + tied * (down - up),
        not_down + not_up,
        tied * (up + down + 2.0 / room) - won * (1.0 - up) - lost * (1.0 - down),
        not_down + not_up + tied * 4.0 * (room + 1.0) / (room * room),
        not_up - not_down,
    )


def mills(x):
    """Density divided by distribution function of the normal distribution at x, for any x."""
    if x > FAR:
        return exp(-0.5 * x * x) * 0.3989422804014327 / (0.5 * erfc(-x * 0.7071067811865476))
    fraction = -x
    for k in range(40, 0, -1):
        fraction = -x + k / fraction
    return fraction


def probit(d, won, lost):
    """win = the normal distribution at d."""
    up, down = mills(d), mills(-d)
    return won * up - lost * down, won * up * (up + d) + lost * down * (down - d)


def logistic_pass(pairs, worth, slope, diagonal, curve):
    """As ``pass_over_pairs`` where the odds to win are exp(d); pairs of one first item stand together."""
    left, right, won, lost = pairs.left, pairs.right, pairs.won, pairs.lost
    i: cython.longlong = 0
    in_slope, in_diagonal = 0.0, 0.0  # sums of a row stay in registers
    for p in range(pairs.count):
        if left[p] != i:
            slope[i] += in_slope
            diagonal[i] += in_diagonal
            i, in_slope, in_diagonal = left[p], 0.0, 0.0
        j = right[p]
        games = won[p] + lost[p]
        up = worth[i] / (worth[i] + worth[j])
        g, c = won[p] - games * up, games * up * (1.0 - up)
        curve[p] = c
        in_slope += g
        in_diagonal += c
        slope[j] -= g
        diagonal[j] += c
    slope[i] += in_slope
    diagonal[i] += in_diagonal


def pass_over_pairs(link, pairs, n, x, worth, slope, diagonal, curve, cross):
    """Add slope and diagonal of the curvature at x; store the curvature of each pair.

    x is the strengths of n items, and x[n] the tie parameter; ``worth`` is exp(x).
    """
    t = x[n]
    if link == LOGISTIC or (link != PROBIT and t == NO_TIES):
        logistic_pass(pairs, worth, slope, diagonal, curve)
        for p in range(pairs.count if link != LOGISTIC else 0):
            cross[p] = 0.0
        return
    for p in range(pairs.count):
        i, j = pairs.left[p], pairs.right[p]
        won, lost, tied = pairs.won[p], pairs.lost[p], pairs.tied[p]
        if link == PROBIT:
            g, c = probit(x[i] - x[j], won, lost)
        else:
            if link == DAVIDSON:
                g, c, g_t, c_t, both = davidson(x[i] - x[j], t, won, lost, tied)
            else:
                g, c, g_t, c_t, both = rao_kupper(x[i] - x[j], t, won, lost, tied)
            slope[n] += g_t
            diagonal[n] += c_t
            cross[p] = both
        curve[p] = c
        slope[i] += g
        slope[j] -= g
        diagonal[i] += c
        diagonal[j] += c


def pass_over_lists(lists, begin, end, lo, worth, slope, diagonal, rate, left):
    """Add slope and diagonal of the curvature of the lists begin:end of the query with first slot ``lo``.

    ``worth`` is exp of the strengths; ``rate`` and ``left`` become the choices per worth and the worth left, by entry.
    """
    entry_ptr, entry_slot, entry_rank = lists.entry_ptr, lists.entry_slot, lists.entry_rank
    base = entry_ptr[begin]
    for m in range(begin, end):
        first, last = entry_ptr[m], entry_ptr[m + 1]
        ranked = last - lists.tail[m]
        total = 0.0
        for e in range(ranked, last):
            total += worth[entry_slot[e] - lo]
        stop = ranked
        while stop > first:
            start = stop
            while start > first and entry_rank[start - 1] == entry_rank[stop - 1]:
                start -= 1
                total += worth[entry_slot[start] - lo]
            size = stop - start
            choices = lists.list_weight[m] * (size - 1 if stop == last else size)
            for e in range(start, stop):
                rate[e - base] = choices / total
                left[e - base] = total
                slope[entry_slot[e] - lo] += choices / size
            stop = start
        expected, squared = 0.0, 0.0
        for e in range(first, last):  # subtract the expected number of choices of each item
            if e < ranked and (e == first or entry_rank[e] != entry_rank[e - 1]):
                expected += rate[e - base]
                squared += rate[e - base] / left[e - base]
            i = entry_slot[e] - lo
            slope[i] -= worth[i] * expected
            diagonal[i] += worth[i] * (expected - worth[i] * squared)


def curve_over_lists(lists, begin, end, lo, worth, moved, rate, left, mean, out):
    """out += curvature times v, with ``rate`` and ``left`` of ``pass_over_lists``; ``moved`` is worth × v.

    ``mean`` is scratch, by entry.
    """
    entry_ptr, entry_slot, entry_rank = lists.entry_ptr, lists.entry_slot, lists.entry_rank
    base = entry_ptr[begin]
    for m in range(begin, end):
        ranked = entry_ptr[m + 1] - lists.tail[m]
        total = 0.0
        for e in range(entry_ptr[m + 1] - 1, entry_ptr[m] - 1, -1):
            total += moved[entry_slot[e] - lo]
            mean[e - base] = total
        expected, drawn = 0.0, 0.0
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            if e < ranked and (e == entry_ptr[m] or entry_rank[e] != entry_rank[e - 1]):
                expected += rate[e - base]
                drawn += rate[e - base] * mean[e - base] / left[e - base]
            i = entry_slot[e] - lo
            out[i] += moved[i] * expected - worth[i] * drawn
