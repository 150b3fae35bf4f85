"""Mallows models: a list is chosen from the top; a stage with j items left skips v items of the centre with weight q^v.

One stage with j choices has the normaliser (1 - q^j) / (1 - q), q = exp(-theta); with one theta for all stages the
model is Mallows' with Kendall's distance. A tied group is the event that its items come in any order.
"""

import cython
import numpy as np
from cython.cimports.libc.math import exp, expm1, fabs, log

from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.elements import Float, Int
    from juryrank.kernels.pairwise import SlotIndex, total_weight

STEEPEST = cython.declare(cython.double, 50.0)  # theta above which exp(-theta) is negligible
HALVINGS = cython.declare(cython.longlong, 200)
INFINITY = cython.declare(cython.double, float("inf"))
NAN = cython.declare(cython.double, float("nan"))


def mean_skips(theta, j):
    """The expected number of items skipped by a choice from j."""
    x = j * theta
    if x < 0.05:  # the two terms below would cancel: a series instead
        square = 1.0 * j * j  # not a whole number: its third power may be too large for one
        cube, fifth = theta * (theta * theta), theta * ((theta * theta) * (theta * theta))
        cubic = cube * (square * square - 1.0) / 720.0 - fifth * (square * (square * square) - 1.0) / 30240.0
        return (j - 1.0) / 2.0 - theta * (square - 1.0) / 12.0 + cubic
    if x > 700.0:
        return exp(-theta) / -expm1(-theta)
    return 1.0 / expm1(theta) - j / expm1(x)


def log_choices(theta, j):
    """The log of the normaliser of a choice from j."""
    if theta <= 1e-12:
        return log(j)
    return log(expm1(-j * theta) / expm1(-theta))


def expected_skips(theta, sizes, stages):
    """Σ_t stages[t] · mean_skips(theta, sizes[t])."""
    out = 0.0
    for t in range(sizes.shape[0]):
        if stages[t] != 0.0 and sizes[t] >= 2:
            out += stages[t] * mean_skips(theta, sizes[t])
    return out


def fit_theta(skipped, sizes, stages):
    """The theta of maximum likelihood: expected skips equal the observed ones; inf without skips, 0 at random level.

    ``stages[t]`` is the weight of the choices from ``sizes[t]`` items.
    """
    chance = expected_skips(0.0, sizes, stages)
    if chance <= 0.0 or skipped >= chance:
        return 0.0
    if skipped <= 1e-12 * chance:
        return INFINITY
    low, high = 0.0, 1.0
    while expected_skips(high, sizes, stages) > skipped and high < 700.0:
        low, high = high, 2.0 * high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        if expected_skips(middle, sizes, stages) > skipped:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def add_stages(n, weight, stages):
    """An order of n items has a choice from each of n, n - 1, … 2."""
    for j in range(2, n + 1):
        stages[j] += weight


def list_stages(index, m, size, stages):
    """Add the choices of a list over ``size`` items; there are none inside a tied group or among the items left out."""
    weight, e, end = index.list_weight[m], index.entry_ptr[m], index.entry_ptr[m + 1]
    add_stages(size, weight, stages)
    add_stages(size - (end - e), -weight, stages)
    while e < end:
        stop = e + 1
        while stop < end and index.entry_rank[stop] == index.entry_rank[e]:
            stop += 1
        add_stages(stop - e, -weight, stages)
        e = stop


@over_queries
def dispersions(
    first: cython.longlong, end: cython.longlong, lists, distance: Float[::1],
    theta: cython.double[::1], log_likelihood: cython.double[::1],
):  # fmt: skip
    """For each query, the theta of maximum likelihood given the distance of its lists to the centre."""
    index: SlotIndex = SlotIndex(first, end, lists)
    last: cython.bint = lists.last
    sizes: cython.longlong[::1] = np.arange(index.most + 1)
    stages: cython.double[::1] = np.empty(index.most + 1)
    with cython.nogil:
        for q in range(first, end):
            index.seek(q)
            n = index.n
            for j in range(n + 1):
                stages[j] = 0.0
            for m in range(index.begin, index.end):
                list_stages(index, m, n if last else index.entry_ptr[m + 1] - index.entry_ptr[m], stages)
            theta[q] = fit_theta(distance[q], sizes[: n + 1], stages)
            if theta[q] == INFINITY:
                continue
            log_likelihood[q] = -theta[q] * distance[q]
            for j in range(2, n + 1):
                log_likelihood[q] -= stages[j] * log_choices(theta[q], j)


def list_order(index, m, place, order):
    """The items of a list from the top, ties in the order of the centre; returns the number before the last group."""
    begin, end = index.entry_ptr[m], index.entry_ptr[m + 1]
    e, stop = begin, begin
    while e < end:
        stop = e + 1
        while stop < end and index.entry_rank[stop] == index.entry_rank[e]:
            stop += 1
        for t in range(e, stop):  # insertion by the centre's place
            at, item = t - begin, index.entry_slot[t] - index.lo
            while at > e - begin and place[item] < place[order[at - 1]]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = item
        if stop == end:
            break
        e = stop
    return e - begin


def stage_skips(
    q: cython.longlong, lists, place: Int[::1], skips: cython.double[::1], choices: cython.longlong[:, ::1]
):
    """skips[k]: the weighted skips of all lists at stage k; choices[m]: the stages of list m, and its items.

    ``place`` numbers the items by the centre, from 0. ``left`` is a Fenwick tree of the items that are left, by place.
    """
    index: SlotIndex = SlotIndex(q, q + 1, lists)
    last: cython.bint = lists.last
    order: cython.longlong[::1] = np.empty(index.most, np.int64)
    left: cython.longlong[::1] = np.empty(index.most + 1, np.int64)
    with cython.nogil:
        index.seek(q)
        n = index.n
        for m in range(index.begin, index.end):
            size = index.entry_ptr[m + 1] - index.entry_ptr[m]
            n_stages = list_order(index, m, place, order)
            for at in range(n + 1):
                left[at] = 1 if last and at > 0 else 0
            if not last:
                for t in range(size):
                    left[place[order[t]] + 1] = 1
            for at in range(1, n + 1):
                if at + (at & -at) <= n:
                    left[at + (at & -at)] += left[at]
            if last and size < n:
                n_stages = size
            choices[m - index.begin, 0] = n_stages
            choices[m - index.begin, 1] = n if last else size
            for k in range(n_stages):
                at = place[order[k]]
                ahead: cython.longlong = 0
                while at > 0:
                    ahead += left[at]
                    at -= at & -at
                skips[k] += ahead * index.list_weight[m]
                at = place[order[k]] + 1
                while at <= n:
                    left[at] -= 1
                    at += at & -at


def stage_thetas(weight: Float[::1], skips: Float[::1], choices: Int[:, ::1], theta: cython.double[::1]):
    """The theta of maximum likelihood of each stage, 0 for a stage without choices; returns the log-likelihood.

    A stage has as many kinds of choices as the lists have lengths, which are few.
    """
    n_lists, room, n_kinds = choices.shape[0], theta.shape[0] + 2, 0
    numbers: cython.longlong[:, ::1] = np.zeros((3, room), np.int64)
    kind, sizes, left = numbers[0], numbers[1], numbers[2]
    for m in range(n_lists):
        kind[choices[m, 1]] = 1
    for size in range(room):
        if kind[size]:
            kind[size], sizes[n_kinds] = n_kinds, size
            n_kinds += 1
    stages: cython.double[::1] = np.empty(n_kinds)
    value = 0.0
    with cython.nogil:
        for k in range(theta.shape[0]):
            for t in range(n_kinds):
                stages[t], left[t] = 0.0, sizes[t] - k
            for m in range(n_lists):
                if choices[m, 0] > k:
                    stages[kind[choices[m, 1]]] += weight[m]
            theta[k] = fit_theta(skips[k], left[:n_kinds], stages)
            if theta[k] == INFINITY:
                continue
            value -= theta[k] * skips[k]
            for t in range(n_kinds):
                if stages[t] != 0.0 and left[t] >= 2:
                    value -= stages[t] * log_choices(theta[k], left[t])
    return value


def stage_margins(q: cython.longlong, lists, place: Int[::1], theta: Float[::1], out: cython.double[:, ::1]):
    """out[i, j]: the cost of j before i minus that of i before j, with the theta of each stage of each list.

    Returns, by item, the rounding error of these costs; a cost of at most this error is set to 0.
    """
    index: SlotIndex = SlotIndex(q, q + 1, lists)
    index.seek(q)
    last: cython.bint = lists.last
    n, begin, n_lists = index.n, index.begin, index.end - index.begin
    order: cython.longlong[::1] = np.empty(n, np.int64)
    rank: cython.double[:, ::1] = np.full((n_lists, n), INFINITY if last else NAN)
    cost: cython.double[:, ::1] = np.zeros((n_lists, n))
    with cython.nogil:
        for m in range(n_lists):
            size = index.entry_ptr[begin + m + 1] - index.entry_ptr[begin + m]
            n_stages = list_order(index, begin + m, place, order)
            for e in range(index.entry_ptr[begin + m], index.entry_ptr[begin + m + 1]):
                rank[m, index.entry_slot[e] - index.lo] = index.entry_rank[e]
            if last and size < n:
                n_stages = size
            for k in range(n_stages):
                cost[m, order[k]] = index.list_weight[begin + m] * min(theta[k], STEEPEST)
        steepest: cython.double = 0.0
        for k in range(theta.shape[0]):
            steepest = max(steepest, min(theta[k], STEEPEST))
        noise = index.rest * total_weight(index) * steepest
        for i in range(n):  # row by row: writing to columns would take ten times as long
            for j in range(n):
                out[i, j] = 0.0
            for m in range(n_lists):
                here, ahead = rank[m, i], cost[m, i]
                for j in range(n):
                    out[i, j] += ahead if here < rank[m, j] else -cost[m, j] if here > rank[m, j] else 0.0
            for j in range(n):
                if fabs(out[i, j]) <= noise:
                    out[i, j] = 0.0
    return np.full(n, noise)


def sample_orders(uniform: Float[:, ::1], theta: Float[::1], out: cython.longlong[:, ::1]):
    """Orders of the centre's items 0 … n - 1, one per row of ``uniform``: each stage skips by its theta."""
    n = uniform.shape[1]
    left: cython.longlong[::1] = np.empty(n, np.int64)
    with cython.nogil:
        for row in range(uniform.shape[0]):
            for i in range(n):
                left[i] = i
            for k in range(n):
                j, at = n - k, 0
                chance = exp(-log_choices(theta[k], j)) if theta[k] < INFINITY else 1.0
                passed = chance
                while at < j - 1 and uniform[row, k] >= passed:
                    at += 1
                    chance *= exp(-theta[k])
                    passed += chance
                out[row, k] = left[at]
                for t in range(at, j - 1):
                    left[t] = left[t + 1]
