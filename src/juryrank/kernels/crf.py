"""Expected metric over all orders of a few items, and its gradient (CIKM 2013).

The orders of n items are the paths from the empty set to the full set that add an item at each step. The probability of
an order is a product over its steps, and its metric a sum over them, of terms that depend only on the set before, the
item and the place. So sums over all n! orders need one pass forwards and one backwards over the n 2^(n-1) steps.
"""

import cython
import numpy as np
from cython.cimports.libc.math import exp

if not cython.compiled:
    from juryrank.kernels.elements import Float, Int, Int32
    from juryrank.kernels.lambdarank import CASCADE, CUT, FIRST, GAIN, PAIRS, PRECISION_SUM
    from juryrank.kernels.ragged import longest


def descending(n, values, order):
    """The positions of the values from largest to smallest, by insertion; equal values keep their order."""
    for i in range(n):
        k = i
        while k > 0 and values[order[k - 1]] < values[i]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = i


def metric_terms(n, kind, cutoff, discount, gain, state, term):
    """An item i added to a set s at place p adds state[s] × term[p * n + i]; with PAIRS, it adds ``pairs_won``."""
    for p in range(n):
        factor = 0.0
        if p < cutoff:
            factor = discount[p] if kind == GAIN else (1.0 if kind == CUT else 1.0 / (p + 1))
        for i in range(n):
            term[p * n + i] = factor * gain[i]
    for s in range(1 << n):
        state[s] = 1.0
    if kind in (CASCADE, PRECISION_SUM, FIRST):
        for i in range(n):
            for s in range(1 << i):  # with item i, the sets of the items before it
                before, g = state[s], gain[i]
                if kind == CASCADE:
                    before *= 1.0 - g
                elif g > 0.0:
                    before = before + 1.0 if kind == PRECISION_SUM else 0.0
                state[s + (1 << i)] = before


def pairs_won(n, before, gain, i):
    """The number of items in the set ``before`` with a higher gain than item i."""
    count: cython.longlong = 0
    for j in range(n):
        higher: cython.longlong = gain[j] > gain[i]
        count += before >> j & higher
    return count


def best_value(n, kind, gain, order, state, term):
    """The metric of the items by descending gain, the largest of all orders."""
    descending(n, gain, order)
    total = 0.0
    s: cython.longlong = 0
    for p in range(n):
        total += pairs_won(n, s, gain, order[p]) if kind == PAIRS else state[s] * term[p * n + order[p]]
        s += 1 << order[p]
    return total


def step_weights(n, score, discounts, order, shift, weight):
    """weight[p * n + i] = exp(discounts[p] × score[i] - shift of p - shift of i), whose product is that of an order.

    The shifts are such that no weight is above 1 and the most probable order has the product 1: sums do not overflow,
    and their largest term does not vanish.
    """
    descending(n, score, order)
    v = 0.0
    for k in range(n):
        if k > 0:
            v += discounts[k - 1] * (score[order[k]] - score[order[k - 1]])
        shift[order[k]] = v
    for p in range(n):
        u = discounts[p] * score[order[p]] - shift[order[p]]
        for i in range(n):
            weight[p * n + i] = exp(discounts[p] * score[i] - shift[i] - u)


def expected_loss(n, score, gain, kind, cutoff, discount, discounts, step_ptr, target, item, order, work, out):
    """The expectation of 1 - metric / best over all orders y with p(y) ~ exp(-E(y)); out = its gradient by the scores.

    -E(y) = sum over places of score × discounts[n, place], n items. Steps from the set s add ``item[e]``, which gives
    the set ``target[e]``, for e from step_ptr[s]; bit i of the number of a set is item i. Those of the first n items
    come first. ``order`` and ``work`` are room: for n places, and [7, 2^n and no less than n²].
    """
    most, full = discounts.shape[0] - 1, (1 << n) - 1
    by_place = discounts[n]
    # Of the parts of orders that lead to a set, and of those that follow: sums of weights, and of weight × value.
    state, mass, total, mass_after, total_after = work[0], work[1], work[2], work[3], work[4]
    term, weight = work[5], work[6]
    metric_terms(n, kind, cutoff, discount, gain, state, term)
    best = best_value(n, kind, gain, order, state, term)
    if best == 0.0:
        for i in range(n):
            out[i] = 0.0
        return 0.0
    step_weights(n, score, by_place, order, out, weight)
    for s in range(1, full + 1):
        mass[s], total[s] = 0.0, 0.0
    mass[0], total[0], mass_after[full], total_after[full] = 1.0, 0.0, 1.0, 0.0
    for s in range(full):
        first, m, t, x = step_ptr[s], mass[s], total[s], state[s] * mass[s]
        place = most - (step_ptr[s + 1] - first)
        for e in range(first, first + n - place):
            i, w, after = item[e], weight[place * n + item[e]], target[e]
            gained = m * pairs_won(n, s, gain, i) if kind == PAIRS else x * term[place * n + i]
            mass[after] += w * m
            total[after] += w * (t + gained)
    mean = total[full] / mass[full]
    for i in range(n):
        out[i] = 0.0
    for s in range(full - 1, -1, -1):
        first, m, t, x = step_ptr[s], 0.0, 0.0, state[s]
        place = most - (step_ptr[s + 1] - first)
        m_here, t_here = by_place[place] * mass[s], by_place[place] * (total[s] - mean * mass[s])
        for e in range(first, first + n - place):
            i, w, after = item[e], weight[place * n + item[e]], target[e]
            gained = pairs_won(n, s, gain, i) if kind == PAIRS else x * term[place * n + i]
            m_step = w * mass_after[after]
            t_step = w * total_after[after] + m_step * gained
            m += m_step
            t += t_step
            out[i] += m_step * t_here + t_step * m_here
        mass_after[s], total_after[s] = m, t
    scale = -1.0 / (best * mass[full])
    for i in range(n):
        out[i] *= scale
    return 1.0 - mean / best


def sample(label, draws, chosen, spare):
    """Sample ``len(chosen)`` of the items, sorted by label: at least one of every label, or as many labels as fit.

    ``spare`` is room for two rows of one number per item and one more.
    """
    n, size = label.shape[0], chosen.shape[0]
    n_levels, start = 0, 0
    for i in range(1, n + 1):
        if i == n or label[i] != label[start]:
            if n_levels < size:
                chosen[n_levels] = start + cython.cast(cython.longlong, draws[n_levels] * (i - start))
            n_levels += 1
            start = i
    if n_levels > size:
        sample_levels(label, n_levels, draws, chosen, spare)
    # The other items, in order, are shuffled as far as needed: place ``swap`` then has the item of place t.
    places, items = spare[0], spare[1]
    for t in range(size - n_levels):
        swap = t + cython.cast(cython.longlong, draws[n_levels + t] * (n - n_levels - t))
        at_t = at_swap = cython.cast(cython.longlong, -1)
        for k in range(t):
            if places[k] == t:
                at_t = items[k]
            if places[k] == swap:
                at_swap = items[k]
        chosen[n_levels + t] = unchosen(n_levels, chosen, swap) if at_swap < 0 else at_swap
        places[t], items[t] = swap, unchosen(n_levels, chosen, t) if at_t < 0 else at_t


def unchosen(n_levels, chosen, place):
    """The item at this place among those that are not chosen; the first ``n_levels`` are chosen, and ascend."""
    item = place
    for level in range(n_levels):
        if chosen[level] <= item:
            item += 1
    return item


def sample_levels(label, n_levels, draws, chosen, spare):
    """Sample one item each of ``len(chosen)`` of the labels."""
    n, size = label.shape[0], chosen.shape[0]
    level_ptr, levels = spare[0], spare[1]
    for level in range(n_levels):
        levels[level] = level
    level_ptr[0], level_ptr[n_levels], level = 0, n, 0
    for i in range(1, n):
        if label[i] != label[i - 1]:
            level += 1
            level_ptr[level] = i
    for t in range(size):
        swap = t + cython.cast(cython.longlong, draws[size + t] * (n_levels - t))
        levels[t], levels[swap] = levels[swap], levels[t]
        lo, hi = level_ptr[levels[t]], level_ptr[levels[t] + 1]
        chosen[t] = lo + cython.cast(cython.longlong, draws[t] * (hi - lo))


def expected_epoch(
    order: Int[::1], draws: Float[:, ::1], slot_ptr: Int[::1], row_ptr: Int[::1], column: Int32[::1],
    value: Float[:, ::1], label: Float[::1], gain: Float[::1], kind: cython.int, cutoff: cython.longlong,
    discount: Float[::1], discounts: Float[:, ::1], step_ptr: Int[::1], target: Int[::1], item: Int[::1],
    rate: cython.double, weights: cython.double[::1],
):  # fmt: skip
    """One pass over the queries in ``order``, one gradient step per query."""
    width, most = value.shape[1], discounts.shape[0] - 1
    work: cython.double[:, ::1] = np.empty((7, max(1 << most, most * most)))
    numbers: cython.double[:, ::1] = np.empty((3, most))
    chosen: cython.longlong[::1] = np.empty(most, np.int64)
    places: cython.longlong[::1] = np.empty(most, np.int64)
    spare: cython.longlong[:, ::1] = np.empty((2, longest(0, slot_ptr.shape[0] - 1, slot_ptr) + 1), np.int64)
    with cython.nogil:
        score, slope, gains = numbers[0], numbers[1], numbers[2]
        for t in range(order.shape[0]):
            lo, n = slot_ptr[order[t]], slot_ptr[order[t] + 1] - slot_ptr[order[t]]
            size = min(n, most)
            if n > size:
                sample(label[lo : lo + n], draws[t], chosen, spare)
            else:
                for i in range(size):
                    chosen[i] = i
            for i in range(size):
                s = lo + chosen[i]
                total: cython.double = 0.0
                for r in range(row_ptr[s], row_ptr[s + 1]):
                    for f in range(width):
                        total += value[r, f] * weights[column[r] * width + f]
                score[i], gains[i] = total, gain[s]
            expected_loss(
                size, score, gains, kind, cutoff, discount, discounts, step_ptr, target, item, places, work, slope
            )
            for i in range(size):
                s = lo + chosen[i]
                step = rate * slope[i]
                for r in range(row_ptr[s], row_ptr[s + 1]):
                    for f in range(width):
                        weights[column[r] * width + f] -= step * value[r, f]
