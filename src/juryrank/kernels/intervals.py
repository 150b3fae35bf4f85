"""The uncertainty of strengths: fits to resampled comparisons, and the spread of the slopes of the likelihood."""

import cython
import numpy as np
from cython.cimports.libc.math import exp, lgamma, log, sqrt

if not cython.compiled:
    from juryrank.kernels.choices import (
        DAVIDSON,
        LISTWISE,
        LOGISTIC,
        NO_TIES,
        PROBIT,
        davidson,
        pass_over_lists,
        probit,
        rao_kupper,
    )
    from juryrank.kernels.draws import bits_of, uniform
    from juryrank.kernels.elements import Float, Int, Int32
    from juryrank.kernels.lists import Lists, Pairs
    from juryrank.kernels.ragged import longest
    from juryrank.kernels.strengths import Newton

FEW = cython.declare(cython.double, 12.0)  # means up to which inversion is used to draw a Poisson number


def poisson(bits, mean, none, scale, out):
    """out[k] = scale[k] times a Poisson number of each mean; ``none`` is its probability of 0."""
    for k in range(mean.shape[0]):
        if mean[k] > FEW:
            out[k] = scale[k] * poisson_of_many(bits, mean[k])
            continue
        number: cython.longlong = 0
        if mean[k] > 0.0:
            left, chance = uniform(bits), 1.0 * none[k]
            while left > chance and number < 100:
                left -= chance
                number += 1
                chance *= mean[k] / number
        out[k] = scale[k] * number


def poisson_of_many(bits, mean):
    """A Poisson number of a mean of 10 or more, by Hörmann's transformed rejection.

    NumPy rounds candidates down and this cuts their digits off, which differs below 0: at a mean of 12 there is one
    more 0 in about 100,000 numbers, at 20 none was seen.
    """
    b = 0.931 + 2.53 * sqrt(mean)
    a = -0.059 + 0.02483 * b
    while True:
        u = uniform(bits) - 0.5
        v = uniform(bits)
        us = 0.5 - abs(u)
        k = cython.cast(cython.longlong, (2.0 * a / us + b) * u + mean + 0.43)
        if us >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2.0):
            return k
        if k >= 0 and (us >= 0.013 or v <= us):
            accept = log(v) + log(1.1239 + 1.1328 / (b - 3.4)) - log(a / (us * us) + b)
            if accept <= k * log(mean) - mean - lgamma(k + 1.0):
                return k


def refit(
    rng, link, left, right, mean: Float[::1], none: Float[::1], scale: Float[::1], lists: Lists, precision,
    tol: cython.double, max_iter: cython.longlong, tie: cython.double[::1], out: cython.double[::1],
):  # fmt: skip
    """Strengths from resampled pairs, starting at ``out``: each comparison appears a Poisson number of times.

    ``mean`` has the comparisons that the first item of each pair won, then those that it lost, then those tied; one
    counts ``scale``, and none appears with probability ``none``.
    """
    drawn = np.empty((3, len(left)))
    number: cython.double[::1] = drawn.reshape(-1)
    pairs: Pairs = Pairs(left, right, *drawn)
    newton: Newton = Newton(0, 1, lists, pairs, link, 0.0, 0.0, precision)
    bits = bits_of(rng)
    with rng.bit_generator.lock, cython.nogil:
        poisson(bits, mean, none, scale, number)
    with cython.nogil:
        newton.start(0, out)
        newton.fit_pairs(tol, max_iter, tie, out)


def pair_information(link, pairs, lists: Lists, precision, x: Float[::1], out: cython.double[:, ::1]):
    """out = the curvature of a likelihood of pairs at x, with ties as the link treats them."""
    left, right, won, lost, tied = pairs
    if link in (LOGISTIC, PROBIT):
        won, lost, tied = won + 0.5 * tied, lost + 0.5 * tied, np.zeros(len(tied))
    newton: Newton = Newton(0, 1, lists, Pairs(left, right, won, lost, tied), link, 0.0, 0.0, precision)
    with cython.nogil:
        newton.start(0, x)
        newton.x[newton.n] = x[newton.n]
        newton.information(out)


@cython.final
@cython.cclass
class Slopes:
    """The slopes at x of the likelihoods of lists of weight 1; the last of x is the tie parameter."""

    def __init__(self, link, lists: Lists, x):
        n_lists, n = len(lists.list_weight), len(x)
        self.link, self.lists, self.n, self.x = link, lists.weighted(np.ones(n_lists)), n, x
        self.slope, self.worth, self.diagonal = np.zeros(n), np.empty(n), np.zeros(n)
        self.rate, self.left = np.empty((2, longest(0, n_lists, self.lists.entry_ptr)))
        for i in range(n):
            self.worth[i] = exp(self.x[i])

    def add_list(self, m):
        """Add to ``slope`` the contribution of one list."""
        tie = self.x[self.n - 1]
        start, stop = self.lists.entry_ptr[m], self.lists.entry_ptr[m + 1]
        if self.link == LISTWISE:
            pass_over_lists(self.lists, m, m + 1, 0, self.worth, self.slope, self.diagonal, self.rate, self.left)
            return
        for a in range(start, stop - self.lists.tail[m]):
            for b in range(a + 1, stop):
                i, j = self.lists.entry_slot[a], self.lists.entry_slot[b]
                d, won = self.x[i] - self.x[j], 1.0 if self.lists.entry_rank[a] < self.lists.entry_rank[b] else 0.0
                if self.link == PROBIT:
                    g = probit(d, 0.5 + 0.5 * won, 0.5 - 0.5 * won)[0]
                elif self.link == LOGISTIC or tie == NO_TIES:
                    g = 0.5 + 0.5 * won - 1.0 / (1.0 + exp(-d))
                else:
                    terms = davidson(d, tie, won, 0.0, 1.0 - won)
                    if self.link != DAVIDSON:
                        terms = rao_kupper(d, tie, won, 0.0, 1.0 - won)
                    g = terms[0]
                    self.slope[self.n - 1] += terms[2]
                self.slope[i] += g
                self.slope[j] -= g


def spread_of_slopes(
    link, lists: Lists, x, count: Float[::1], scale: Float[::1], order: Int[::1], cluster_ptr: Int[::1],
    apart: cython.bint, out: cython.double[:, ::1],
):  # fmt: skip
    """out += the sum over clusters of lists of slope × slopeᵀ; ``apart``: a list is ``count`` clusters.

    The lists are those of one query. One list adds ``scale`` times its slope to that of its cluster.
    """
    slopes: Slopes = Slopes(link, lists, x)
    n, one, entry_ptr = slopes.n, slopes.slope, lists.entry_ptr
    slope: cython.double[::1] = np.zeros(n)
    touched: cython.longlong[::1] = np.empty(n, np.int64)
    seen: cython.longlong[::1] = np.full(n, -1)
    with cython.nogil:
        for c in range(cluster_ptr.shape[0] - 1):
            n_touched: cython.longlong = 0
            weight = 1.0
            for t in range(cluster_ptr[c], cluster_ptr[c + 1]):
                m = order[t]
                slopes.add_list(m)
                times = scale[m] if apart else count[m] * scale[m]
                if apart:
                    weight = count[m]
                for e in range(entry_ptr[m], entry_ptr[m + 1] + 1):
                    i = lists.entry_slot[e] if e < entry_ptr[m + 1] else n - 1
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


def agreement(
    entry_ptr: Int[::1], entry_slot: Int32[::1], entry_rank: Float[::1], list_weight: Float[::1], scores: Float[::1],
    agreed: cython.double[::1], decided: cython.double[::1],
):  # fmt: skip
    """For each list, the weight of the pairs it orders, and of those that the scores order in the same way."""
    with cython.nogil:
        for m in range(entry_ptr.shape[0] - 1):
            ordered: cython.double = decided[m]
            same: cython.double = agreed[m]
            for a in range(entry_ptr[m], entry_ptr[m + 1]):
                for b in range(a + 1, entry_ptr[m + 1]):
                    if entry_rank[a] < entry_rank[b]:
                        ordered += list_weight[m]
                        same += list_weight[m] if scores[entry_slot[a]] > scores[entry_slot[b]] else 0.0
            decided[m], agreed[m] = ordered, same
