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
        cubic = theta**3 * (j**4 - 1.0) / 720.0 - theta**5 * (j**6 - 1.0) / 30240.0
        return (j - 1.0) / 2.0 - theta * (j * j - 1.0) / 12.0 + cubic
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
def expected_skips(theta, stages):
    """Σ_j stages[j] · mean_skips(theta, j)."""
    out = 0.0
    for j in range(2, len(stages)):
        if stages[j] != 0.0:
            out += stages[j] * mean_skips(theta, j)
    return out


@kernel
def fit_theta(skipped, stages):
    """The theta of maximum likelihood: expected skips equal the observed ones; inf without skips, 0 at random level."""
    chance = expected_skips(0.0, stages)
    if chance <= 0.0 or skipped >= chance:
        return 0.0
    if skipped <= 1e-12 * chance:
        return np.inf
    low, high = 0.0, 1.0
    while expected_skips(high, stages) > skipped and high < 700.0:
        low, high = high, 2.0 * high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        if expected_skips(middle, stages) > skipped:
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
        theta[q] = fit_theta(distance[q], stages)
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
    """skips[k]: the weighted skips of all lists at stage k; choices[m]: the stages of list m, and its items."""
    lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
    order, left = np.empty(n, np.int64), np.empty(n, np.bool_)
    for m in range(list_ptr[q], list_ptr[q + 1]):
        size = entry_ptr[m + 1] - entry_ptr[m]
        n_stages = list_order(m, lo, entry_ptr, entry_slot, entry_rank, place, order)
        left[:] = last
        for t in range(size):
            left[order[t]] = True
        if last and size < n:
            n_stages = size
        choices[m - list_ptr[q], 0] = n_stages
        choices[m - list_ptr[q], 1] = n if last else size
        for k in range(n_stages):
            left[order[k]] = False
            for i in range(n):
                if left[i] and place[i] < place[order[k]]:
                    skips[k] += list_weight[m]


@kernel
def stage_thetas(weight, skips, choices, theta):
    """The theta of maximum likelihood of each stage, 0 for a stage without choices; returns the log-likelihood."""
    value = 0.0
    for k in range(len(theta)):
        stages = np.zeros(choices[:, 1].max() + 1)
        for m in range(len(choices)):
            if choices[m, 0] > k:
                stages[choices[m, 1] - k] += weight[m]
        theta[k] = fit_theta(skips[k], stages)
        if theta[k] == np.inf:
            continue
        value -= theta[k] * skips[k]
        for j in range(2, len(stages)):
            value -= stages[j] * log_choices(theta[k], j)
    return value


@kernel
def stage_margins(
    q, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, last, place, theta, out
):  # fmt: skip
    """out[i, j]: the cost of j before i minus that of i before j, with the theta of each stage of each list.

    Returns, by item, the rounding error of these costs; a cost of at most this error is set to 0.
    """
    lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
    order, rank, left = np.empty(n, np.int64), np.empty(n), np.empty(n, np.bool_)
    for m in range(list_ptr[q], list_ptr[q + 1]):
        size = entry_ptr[m + 1] - entry_ptr[m]
        n_stages = list_order(m, lo, entry_ptr, entry_slot, entry_rank, place, order)
        left[:] = last
        rank[:] = np.inf
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            rank[entry_slot[e] - lo] = entry_rank[e]
            left[entry_slot[e] - lo] = True
        if last and size < n:
            n_stages = size
        for k in range(n_stages):
            i = order[k]
            left[i] = False
            cost = list_weight[m] * min(theta[k], STEEPEST)
            for j in range(n):
                if left[j] and rank[j] > rank[i]:
                    out[i, j] += cost
                    out[j, i] -= cost
    steepest = min(theta.max(), STEEPEST) if len(theta) else 0.0
    noise = residue(list_ptr[q + 1] - list_ptr[q]) * list_weight[list_ptr[q] : list_ptr[q + 1]].sum() * steepest
    for i in range(n):
        for j in range(n):
            if abs(out[i, j]) <= noise:
                out[i, j] = 0.0
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
