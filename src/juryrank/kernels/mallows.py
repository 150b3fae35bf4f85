"""Mallows models: a list is chosen from the top; a stage with j items left skips v items of the centre with weight q^v.

One stage with j choices has the normaliser (1 - q^j) / (1 - q), q = exp(-theta); with one theta for all stages the
model is Mallows' with Kendall's distance. A tied group is the event that its items come in any order.
"""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.pairwise import residue

STEEPEST = 50.0  # theta above which exp(-theta) is negligible
HALVINGS = 200


@kernel
def mean_skips(theta, j):
    """The expected number of items skipped by a choice from j."""
    x = j * theta
    if x < 0.05:  # the two terms below would cancel: a series instead
        square = 1.0 * j * j  # not a whole number: its third power may be too large for one
        cubic = theta**3 * (square**2 - 1.0) / 720.0 - theta**5 * (square**3 - 1.0) / 30240.0
        return (j - 1.0) / 2.0 - theta * (square - 1.0) / 12.0 + cubic
    if x > 700.0:
        return np.exp(-theta) / -np.expm1(-theta)
    return 1.0 / np.expm1(theta) - j / np.expm1(x)


@kernel
def log_choices(theta, j):
    """The log of the normaliser of a choice from j."""
    if theta <= 1e-12:
        return np.log(j)
    return np.log(np.expm1(-j * theta) / np.expm1(-theta))


@kernel
def expected_skips(theta, sizes, stages):
    """Σ_t stages[t] · mean_skips(theta, sizes[t])."""
    out = 0.0
    for t in range(len(sizes)):
        if stages[t] != 0.0 and sizes[t] >= 2:
            out += stages[t] * mean_skips(theta, sizes[t])
    return out


@kernel
def fit_theta(skipped, sizes, stages):
    """The theta of maximum likelihood: expected skips equal the observed ones; inf without skips, 0 at random level.

    ``stages[t]`` is the weight of the choices from ``sizes[t]`` items.
    """
    chance = expected_skips(0.0, sizes, stages)
    if chance <= 0.0 or skipped >= chance:
        return 0.0
    if skipped <= 1e-12 * chance:
        return np.inf
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


@kernel
def add_stages(n, weight, stages):
    """An order of n items has a choice from each of n, n - 1, … 2."""
    for j in range(2, n + 1):
        stages[j] += weight


@kernel
def list_stages(m, size, entry_ptr, entry_rank, weight, stages):
    """Add the choices of a list over ``size`` items; there are none inside a tied group or among the items left out."""
    add_stages(size, weight, stages)
    e, end = entry_ptr[m], entry_ptr[m + 1]
    add_stages(size - (end - e), -weight, stages)
    while e < end:
        stop = e + 1
        while stop < end and entry_rank[stop] == entry_rank[e]:
            stop += 1
        add_stages(stop - e, -weight, stages)
        e = stop


@over_queries
def dispersions(
    first, end, slot_ptr, list_ptr, entry_ptr, entry_rank, list_weight, last, distance, theta, log_likelihood
):  # fmt: skip
    """For each query, the theta of maximum likelihood given the distance of its lists to the centre."""
    for q in range(first, end):
        n = slot_ptr[q + 1] - slot_ptr[q]
        stages = np.zeros(n + 1)
        for m in range(list_ptr[q], list_ptr[q + 1]):
            size = n if last else entry_ptr[m + 1] - entry_ptr[m]
            list_stages(m, size, entry_ptr, entry_rank, list_weight[m], stages)
        theta[q] = fit_theta(distance[q], np.arange(n + 1), stages)
        if theta[q] == np.inf:
            continue
        log_likelihood[q] = -theta[q] * distance[q]
        for j in range(2, n + 1):
            log_likelihood[q] -= stages[j] * log_choices(theta[q], j)


@kernel
def list_order(m, lo, entry_ptr, entry_slot, entry_rank, place, order):
    """The items of a list from the top, ties in the order of the centre; returns the number before the last group."""
    begin, end = entry_ptr[m], entry_ptr[m + 1]
    e, stop = begin, begin
    while e < end:
        stop = e + 1
        while stop < end and entry_rank[stop] == entry_rank[e]:
            stop += 1
        for t in range(e, stop):  # insertion by the centre's place
            at = t - begin
            order[at] = entry_slot[t] - lo
            while at > e - begin and place[order[at]] < place[order[at - 1]]:
                order[at], order[at - 1] = order[at - 1], order[at]
                at -= 1
        if stop == end:
            break
        e = stop
    return e - begin


@kernel
def stage_skips(q, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, last, place, skips, choices):
    """skips[k]: the weighted skips of all lists at stage k; choices[m]: the stages of list m, and its items.

    ``place`` numbers the items by the centre, from 0. ``left`` is a Fenwick tree of the items that are left, by place.
    """
    lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
    order, left = np.empty(n, np.int64), np.empty(n + 1, np.int64)
    for m in range(list_ptr[q], list_ptr[q + 1]):
        size = entry_ptr[m + 1] - entry_ptr[m]
        n_stages = list_order(m, lo, entry_ptr, entry_slot, entry_rank, place, order)
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
        choices[m - list_ptr[q], 0] = n_stages
        choices[m - list_ptr[q], 1] = n if last else size
        for k in range(n_stages):
            at = place[order[k]]
            ahead = 0
            while at > 0:
                ahead += left[at]
                at -= at & -at
            skips[k] += ahead * list_weight[m]
            at = place[order[k]] + 1
            while at <= n:
                left[at] -= 1
                at += at & -at


@kernel
def stage_thetas(weight, skips, choices, theta):
    """The theta of maximum likelihood of each stage, 0 for a stage without choices; returns the log-likelihood.

    A stage has as many kinds of choices as the lists have lengths, which are few.
    """
    most = choices[:, 1].max()
    kind, sizes = np.full(most + 1, -1), np.empty(most + 1, np.int64)
    for m in range(len(choices)):
        kind[choices[m, 1]] = 0
    n_kinds = 0
    for size in range(most + 1):
        if kind[size] == 0:
            kind[size], sizes[n_kinds] = n_kinds, size
            n_kinds += 1
    stages, value = np.empty(n_kinds), 0.0
    for k in range(len(theta)):
        stages[:] = 0.0
        for m in range(len(choices)):
            if choices[m, 0] > k:
                stages[kind[choices[m, 1]]] += weight[m]
        theta[k] = fit_theta(skips[k], sizes[:n_kinds] - k, stages)
        if theta[k] == np.inf:
            continue
        value -= theta[k] * skips[k]
        for t in range(n_kinds):
            if stages[t] != 0.0 and sizes[t] - k >= 2:
                value -= stages[t] * log_choices(theta[k], sizes[t] - k)
    return value


@kernel
def stage_margins(
    q, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, last, place, theta, out
):  # fmt: skip
    """out[i, j]: the cost of j before i minus that of i before j, with the theta of each stage of each list.

    Returns, by item, the rounding error of these costs; a cost of at most this error is set to 0.
    """
    lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
    begin, end = list_ptr[q], list_ptr[q + 1]
    order, total = np.empty(n, np.int64), 0.0
    rank, cost = np.full((end - begin, n), np.inf if last else np.nan), np.zeros((end - begin, n))
    for m in range(begin, end):
        total += list_weight[m]
        size = entry_ptr[m + 1] - entry_ptr[m]
        n_stages = list_order(m, lo, entry_ptr, entry_slot, entry_rank, place, order)
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            rank[m - begin, entry_slot[e] - lo] = entry_rank[e]
        if last and size < n:
            n_stages = size
        for k in range(n_stages):
            cost[m - begin, order[k]] = list_weight[m] * min(theta[k], STEEPEST)
    steepest = 0.0
    for k in range(len(theta)):
        steepest = max(steepest, min(theta[k], STEEPEST))
    noise = residue(end - begin) * total * steepest
    for i in range(n):  # row by row: writing to columns would take ten times as long
        row = out[i, :]
        row[:] = 0.0
        for m in range(end - begin):
            ranks, costs, here, ahead = rank[m, :], cost[m, :], rank[m, i], cost[m, i]
            for j in range(n):
                row[j] += ahead if here < ranks[j] else -costs[j] if here > ranks[j] else 0.0
        for j in range(n):
            if abs(row[j]) <= noise:
                row[j] = 0.0
    return np.full(n, noise)


@kernel
def sample_orders(uniform, theta, out):
    """Orders of the centre's items 0 … n - 1, one per row of ``uniform``: each stage skips by its theta."""
    n = uniform.shape[1]
    left = np.empty(n, np.int64)
    for row in range(len(uniform)):
        for i in range(n):
            left[i] = i
        for k in range(n):
            j = n - k
            at = 0
            chance = np.exp(-log_choices(theta[k], j)) if theta[k] < np.inf else 1.0
            passed = chance
            while at < j - 1 and uniform[row, k] >= passed:
                at += 1
                chance *= np.exp(-theta[k])
                passed += chance
            out[row, k] = left[at]
            for t in range(at, j - 1):
                left[t] = left[t + 1]
