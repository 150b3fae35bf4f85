"""The uncertainty of strengths: fits to resampled comparisons, and the spread of the slopes of the likelihood."""

import math

import numpy as np

from juryrank.kernels.choices import pass_over_lists
from juryrank.kernels.jit import kernel
from juryrank.kernels.links import DAVIDSON, LISTWISE, LOGISTIC, NEVER, PROBIT, davidson, probit, rao_kupper
from juryrank.kernels.lists import QueryLists
from juryrank.kernels.strengths import fit_pairs, information

FEW = 12.0  # means up to which inversion is used to draw a Poisson number


@kernel
def poisson(rng, mean, none):
    """A Poisson number; ``none`` is the probability of 0."""
    if mean > FEW:
        return float(rng.poisson(mean))
    left, chance, number = rng.random(), none, 0
    while left > chance and number < 100:
        left -= chance
        number += 1
        chance *= mean / number
    return float(number)


@kernel
def resample(rng, mean, none, out):
    """A Poisson number for each mean."""
    for k in range(len(mean)):
        out[k] = poisson(rng, mean[k], none[k]) if mean[k] > 0.0 else 0.0


@kernel
def refit(rng, link, pairs, scale, nones, lists, precision, tol, max_iter, tie, out):
    """Strengths from resampled pairs, starting at ``out``: each comparison appears a Poisson number of times.

    ``scale`` is the weight of one comparison of a pair.
    """
    left, right, won, lost, tied = pairs
    new_won, new_lost, new_tied = np.empty(len(won)), np.empty(len(won)), np.empty(len(won))
    resample(rng, won, nones[0], new_won)
    resample(rng, lost, nones[1], new_lost)
    resample(rng, tied, nones[2], new_tied)
    for p in range(len(scale)):
        new_won[p] *= scale[p]
        new_lost[p] *= scale[p]
        new_tied[p] *= scale[p]
    return fit_pairs(link, (left, right, new_won, new_lost, new_tied), lists, precision, tol, max_iter, tie, out)


@kernel
def pair_information(link, pairs, lists, precision, x, out):
    """out = the curvature of a likelihood of pairs at x, with ties as the link treats them."""
    left, right, won, lost, tied = pairs
    if link in (LOGISTIC, PROBIT):
        won, lost, tied = won + 0.5 * tied, lost + 0.5 * tied, np.zeros(len(tied))
    information(link, (left, right, won, lost, tied), lists, (0.0, 0.0, precision), x, out)


@kernel
def slope_of_list(link, m, lists, x, slope):
    """Add to ``slope`` the contribution of one list of weight 1 to the slope at x."""
    lo, entry_ptr, entry_slot, entry_rank, tail = (
        lists.lo, lists.entry_ptr, lists.entry_slot, lists.entry_rank, lists.tail
    )  # fmt: skip
    start, stop = entry_ptr[m], entry_ptr[m + 1]
    if link == LISTWISE:
        unit, diagonal, rate, left = np.ones(m + 1), np.zeros(len(x)), np.empty(stop - start), np.empty(stop - start)
        one = QueryLists(m, m + 1, lo, entry_ptr, entry_slot, entry_rank, unit, tail)
        pass_over_lists(one, x, slope, diagonal, rate, left)
        return
    for a in range(start, stop - tail[m]):
        for b in range(a + 1, stop):
            i, j = entry_slot[a] - lo, entry_slot[b] - lo
            d, won = x[i] - x[j], 1.0 if entry_rank[a] < entry_rank[b] else 0.0
            g, g_t = 0.0, 0.0
            if link == PROBIT:
                g, _ = probit(d, 0.5 + 0.5 * won, 0.5 - 0.5 * won)
            elif link == LOGISTIC or x[-1] == NEVER:
                g = 0.5 + 0.5 * won - 1.0 / (1.0 + math.exp(-d))
            elif link == DAVIDSON:
                g, _, g_t, _, _ = davidson(d, x[-1], won, 0.0, 1.0 - won)
            else:
                g, _, g_t, _, _ = rao_kupper(d, x[-1], won, 0.0, 1.0 - won)
            slope[i] += g
            slope[j] -= g
            slope[-1] += g_t


@kernel
def spread_of_slopes(link, lists, x, count, scale, order, cluster_ptr, apart, out):
    """out += the sum over clusters of lists of slope × slopeᵀ; ``apart``: a list is ``count`` clusters.

    One list adds ``scale`` times its slope to that of its cluster.
    """
    lo, entry_ptr, entry_slot = lists.lo, lists.entry_ptr, lists.entry_slot
    n = len(x)
    slope, one, touched = np.zeros(n), np.zeros(n), np.empty(n, np.int64)
    seen = np.full(n, -1)
    for c in range(len(cluster_ptr) - 1):
        n_touched, weight = 0, 1.0
        for t in range(cluster_ptr[c], cluster_ptr[c + 1]):
            m = order[t]
            slope_of_list(link, m, lists, x, one)
            weight, times = (count[m], scale[m]) if apart else (1.0, count[m] * scale[m])
            for e in range(entry_ptr[m], entry_ptr[m + 1] + 1):
                i = entry_slot[e] - lo if e < entry_ptr[m + 1] else n - 1
                if seen[i] != c:
                    seen[i], touched[n_touched] = c, i
                    n_touched += 1
                slope[i] += one[i] * times
                one[i] = 0.0
        for a in range(n_touched):
            for b in range(n_touched):
                out[touched[a], touched[b]] += weight * slope[touched[a]] * slope[touched[b]]
        for a in range(n_touched):
            slope[touched[a]] = 0.0


@kernel
def agreement(entry_ptr, entry_slot, entry_rank, list_weight, scores, agreed, decided):
    """For each list, the weight of the pairs it orders, and of those that the scores order in the same way."""
    for m in range(len(entry_ptr) - 1):
        for a in range(entry_ptr[m], entry_ptr[m + 1]):
            for b in range(a + 1, entry_ptr[m + 1]):
                if entry_rank[a] < entry_rank[b]:
                    decided[m] += list_weight[m]
                    agreed[m] += list_weight[m] * (1.0 if scores[entry_slot[a]] > scores[entry_slot[b]] else 0.0)
