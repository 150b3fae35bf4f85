"""Expected metric over all orders of a few items, and its gradient (CIKM 2013)."""

import numpy as np

from juryrank.kernels.jit import kernel
from juryrank.kernels.lambdarank import CASCADE, CUT, FIRST, GAIN, PRECISION_SUM


@kernel
def metric_value(kind, cutoff, discount, gain, order, first):
    """The unnormalised metric of the items in ``order``, whose numbers start at ``first``."""
    total, found, reading = 0.0, 0.0, 1.0
    n = len(order)
    if kind == GAIN:
        for a in range(min(n, cutoff)):
            total += discount[a] * gain[order[a] - first]
    elif kind == PRECISION_SUM:
        for a in range(min(n, cutoff)):
            if gain[order[a] - first] > 0:
                found += 1.0
                total += found / (a + 1)
    elif kind == CASCADE:
        for a in range(min(n, cutoff)):
            total += reading * gain[order[a] - first] / (a + 1)
            reading *= 1.0 - gain[order[a] - first]
    elif kind == FIRST:
        for a in range(min(n, cutoff)):
            if gain[order[a] - first] > 0:
                return 1.0 / (a + 1)
    elif kind == CUT:
        for a in range(min(n, cutoff)):
            total += gain[order[a] - first]
    else:
        for a in range(n):
            for b in range(a + 1, n):
                total += 1.0 if gain[order[a] - first] > gain[order[b] - first] else 0.0
    return total


@kernel
def expected_loss(score, gain, kind, cutoff, discount, orders, out):
    """The expectation of 1 - metric / best over all orders y with p(y) ~ exp(-E(y)); out = its gradient by the scores.

    -E(y) = 1/n² × sum over places of score / log(place + 1). ``orders`` has the permutations of the largest possible
    number of items in lexicographic order; the first n! of them permute the last n items.
    """
    n, most = len(score), orders.shape[1]
    n_orders = 1
    for i in range(2, n + 1):
        n_orders *= i
    first = most - n
    energy, value = np.empty(n_orders), np.empty(n_orders)
    discounts = 1.0 / (np.log(np.arange(2.0, n + 2.0)) * n * n)
    best, highest = 0.0, -np.inf
    for y in range(n_orders):
        order = orders[y, first:]
        total = 0.0
        for a in range(n):
            total += discounts[a] * score[order[a] - first]
        energy[y] = total
        highest = max(highest, total)
        value[y] = metric_value(kind, cutoff, discount, gain, order, first)
        best = max(best, value[y])
    mass, mean = 0.0, 0.0
    for y in range(n_orders):
        energy[y] = np.exp(energy[y] - highest)
        mass += energy[y]
        mean += energy[y] * value[y]
    mean /= mass
    out[:] = 0.0
    if best == 0.0:
        return 0.0
    for y in range(n_orders):
        pull = energy[y] / mass * (mean - value[y]) / best
        for a in range(n):
            out[orders[y, first + a] - first] += pull * discounts[a]
    return 1.0 - mean / best


@kernel
def sample(label, draws, chosen):
    """Sample ``len(chosen)`` of the items, sorted by label: at least one of every label, or as many labels as fit."""
    n, size = len(label), len(chosen)
    level_ptr = np.empty(n + 1, np.int64)
    n_levels = 0
    for i in range(n):
        if i == 0 or label[i] != label[i - 1]:
            level_ptr[n_levels] = i
            n_levels += 1
    level_ptr[n_levels] = n
    levels, taken = np.arange(n_levels), np.zeros(n, np.bool_)
    first = min(n_levels, size)
    for t in range(first):
        if n_levels > size:
            swap = t + int(draws[size + t] * (n_levels - t))
            levels[t], levels[swap] = levels[swap], levels[t]
        lo, hi = level_ptr[levels[t]], level_ptr[levels[t] + 1]
        chosen[t] = lo + int(draws[t] * (hi - lo))
        taken[chosen[t]] = True
    rest = np.flatnonzero(~taken)
    for t in range(first, size):
        swap = t - first + int(draws[t] * (len(rest) - (t - first)))
        rest[t - first], rest[swap] = rest[swap], rest[t - first]
        chosen[t] = rest[t - first]


@kernel
def expected_epoch(
    order, draws, slot_ptr, row_ptr, column, value, label, gain, kind, cutoff, discount, orders, rate, weights
):
    """One pass over the queries in ``order``, one gradient step per query; returns the sum of their expected losses."""
    loss, width = 0.0, value.shape[1]
    for t in range(len(order)):
        lo, n = slot_ptr[order[t]], slot_ptr[order[t] + 1] - slot_ptr[order[t]]
        size = min(n, orders.shape[1])
        chosen = np.arange(size)
        if n > size:
            sample(label[lo : lo + n], draws[t], chosen)
        score, slope = np.zeros(size), np.empty(size)
        for i in range(size):
            for r in range(row_ptr[lo + chosen[i]], row_ptr[lo + chosen[i] + 1]):
                for f in range(width):
                    score[i] += value[r, f] * weights[column[r] * width + f]
        loss += expected_loss(score, gain[lo + chosen], kind, cutoff, discount, orders, slope)
        for i in range(size):
            for r in range(row_ptr[lo + chosen[i]], row_ptr[lo + chosen[i] + 1]):
                for f in range(width):
                    weights[column[r] * width + f] -= rate * slope[i] * value[r, f]
    return loss
