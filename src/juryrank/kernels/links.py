"""Probabilities that an item wins, loses or ties against another, as functions of the difference of strengths.

Each returns, for a pair with difference d, tie parameter t and weights of won, lost and tied: the slope of the log
likelihood in d, its curvature (minus the second derivative) in d, slope and curvature in t, and curvature in d and t.
"""

import math

import numpy as np

from juryrank.kernels.jit import kernel

LOGISTIC, DAVIDSON, RAO_KUPPER, PROBIT, LISTWISE = 0, 1, 2, 3, 4
NEVER = -np.inf  # the tie parameter of data without ties; both models of ties are then logistic
FAR = -8.0  # below this the normal distribution is computed by its continued fraction


@kernel
def davidson(d, t, won, lost, tied):
    """win : lose : tie = exp(d/2) : exp(-d/2) : exp(t)."""
    up, down, level = math.exp(0.5 * d), math.exp(-0.5 * d), math.exp(t)
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


@kernel
def rao_kupper(d, t, won, lost, tied):
    """win = 1/(1 + exp(t - d)) with t > 0, lose likewise with -d, tie = the rest."""
    up, down = 1.0 / (1.0 + math.exp(t - d)), 1.0 / (1.0 + math.exp(t + d))
    not_down, not_up = (won + tied) * up * (1.0 - up), (lost + tied) * down * (1.0 - down)
    room = math.expm1(2.0 * t)
    return (
        won * (1.0 - up) - lost * (1.0 - down) + tied * (down - up),
        not_down + not_up,
        tied * (up + down + 2.0 / room) - won * (1.0 - up) - lost * (1.0 - down),
        not_down + not_up + tied * 4.0 * (room + 1.0) / (room * room),
        not_up - not_down,
    )


@kernel
def mills(x):
    """Density divided by distribution function of the normal distribution at x, for any x."""
    if x > FAR:
        return math.exp(-0.5 * x * x) * 0.3989422804014327 / (0.5 * math.erfc(-x * 0.7071067811865476))
    fraction = -x
    for k in range(40, 0, -1):
        fraction = -x + k / fraction
    return fraction


@kernel
def probit(d, won, lost):
    """win = the normal distribution at d."""
    up, down = mills(d), mills(-d)
    return won * up - lost * down, won * up * (up + d) + lost * down * (down - d)


@kernel
def logistic_pass(first, second, won, lost, x, slope, diagonal, curve):
    """As ``pass_over_pairs`` where the odds to win are exp(d); pairs of one first item stand together."""
    worth = np.exp(x)
    i, in_slope, in_diagonal = 0, 0.0, 0.0  # sums of a row stay in registers
    for p in range(len(first)):
        if first[p] != i:
            slope[i] += in_slope
            diagonal[i] += in_diagonal
            i, in_slope, in_diagonal = first[p], 0.0, 0.0
        j = second[p]
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


@kernel
def pass_over_pairs(link, first, second, won, lost, tied, x, slope, diagonal, curve, cross):
    """Add slope and diagonal of the curvature at x (the tie parameter is last); store the curvature of each pair."""
    n = len(x) - 1
    t = x[n]
    if link == LOGISTIC or (link != PROBIT and t == NEVER):
        logistic_pass(first, second, won, lost, x[:n], slope, diagonal, curve)
        return
    for p in range(len(first)):
        i, j = first[p], second[p]
        g, c = 0.0, 0.0
        if link == PROBIT:
            g, c = probit(x[i] - x[j], won[p], lost[p])
        else:
            if link == DAVIDSON:
                g, c, g_t, c_t, both = davidson(x[i] - x[j], t, won[p], lost[p], tied[p])
            else:
                g, c, g_t, c_t, both = rao_kupper(x[i] - x[j], t, won[p], lost[p], tied[p])
            slope[n] += g_t
            diagonal[n] += c_t
            cross[p] = both
        curve[p] = c
        slope[i] += g
        slope[j] -= g
        diagonal[i] += c
        diagonal[j] += c
