"""LambdaRank: a neural network over sparse rows, and the gradient of a pairwise loss weighted by metric changes.

The network has ``sizes`` = (inputs, hidden, …, 1) and its parameters in one flat array: for each layer the weights
[inputs, outputs] and then the biases, except in the last layer (a bias of the score cancels within a query).
"""

import cython
import numpy as np
from cython.cimports.libc.math import exp, tanh

from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.elements import Float, Int, Int32
    from juryrank.kernels.ragged import count_ahead, longest, stable_order

    GAIN, PRECISION_SUM, CASCADE, FIRST, CUT, PAIRS = range(6)  # as in the .pxd

LARGEST_EXPONENT = cython.declare(cython.double, 700.0)  # exp of it and of minus it are numbers
SHORT = cython.declare(cython.longlong, 128)  # up to this many scores, comparing all pairs is faster than a sort


def places(score, negated, order, out):
    """The place of each item by its score, from 0; of equal scores, the first item is first."""
    n = score.shape[0]
    if n <= SHORT and count_ahead(score, out):
        return
    for i in range(n):
        negated[i], order[i] = -score[i], i
    stable_order(negated, order[:n], out)
    for a in range(n):
        out[order[a]] = a


def place_sums(kind, gain, place, item_at, count, harmonic, reading):
    """By place: the item, the relevant items down to it, the sum of 1 / place over them, the probability to read it."""
    n = gain.shape[0]
    for i in range(n):
        item_at[place[i]] = i
    found, sum_, left = 0.0, 0.0, 1.0
    for a in range(n):
        g = gain[item_at[a]]
        reading[a] = left
        if kind == CASCADE:
            left *= 1.0 - g
        if g > 0.0:
            found += 1.0
            sum_ += 1.0 / (a + 1)
        count[a], harmonic[a] = found, sum_


def relevant_place(n, count, k):
    """The place of the k-th relevant item; n where there is none."""
    a: cython.longlong = 0
    while a < n and count[a] < k:
        a += 1
    return a


def gain_changes(i, n_lower, gain, discount, out):
    """out[j] = the change of the discounted gain if the items i and j < n_lower are swapped; ``discount`` by item."""
    for j in range(n_lower):
        out[j] = (gain[i] - gain[j]) * abs(discount[i] - discount[j])


def swap_changes(kind, i, n_lower, gain, place, count, harmonic, first, second, cutoff, out):
    """out[j] = the change of an unnormalised metric of binary gains if the items i and j < n_lower are swapped.

    ``first`` and ``second`` are the places of the first and the second relevant item.
    """
    for j in range(n_lower):
        a, b = min(place[i], place[j]), max(place[i], place[j])
        better_is_above: cython.bint = a == place[i]
        if kind == PAIRS:
            out[j] = 1.0
        elif gain[i] == gain[j]:
            out[j] = 0.0
        elif kind == PRECISION_SUM:
            found = count[a] + (0.0 if better_is_above else 1.0)
            out[j] = found / (a + 1) - count[b] / (b + 1) + harmonic[b - 1] - harmonic[a]
        elif kind == CUT:
            out[j] = 1.0 if a < cutoff <= b else 0.0
        elif better_is_above:
            out[j] = 1.0 / (a + 1) - 1.0 / (min(second, b) + 1) if a == first else 0.0
        else:
            out[j] = 1.0 / (a + 1) - 1.0 / (first + 1) if a < first else 0.0


def cascade_changes(i, gain, place, item_at, reading, out):
    """out[j] = the change of the expected reciprocal rank if the items i and j are swapped."""
    between, through = 0.0, 1.0  # what is read between the two places: value and probability to go on
    for b in range(place[i] + 1, gain.shape[0]):
        j, a = item_at[b], place[i]
        out[j] = abs(gain[i] - gain[j]) * reading[a] * abs(1.0 / (a + 1) - between - through / (b + 1))
        between += through * gain[j] / (b + 1)
        through *= 1.0 - gain[j]
    between, through = 0.0, 1.0
    for a in range(place[i] - 1, -1, -1):
        j, b = item_at[a], place[i]
        out[j] = abs(gain[i] - gain[j]) * reading[a] * abs(1.0 / (a + 1) - between - through / (b + 1))
        between = gain[j] / (a + 1) + (1.0 - gain[j]) * between
        through *= 1.0 - gain[j]


def pair_pushes(i, n_lower, score, near, odds, weight, push, out):
    """Add the gradient of Σ weight[j] × log(1 + exp(score[j] - score[i])) over the items j < n_lower to ``out``.

    ``odds`` are exponentials of the scores, if these are ``near`` enough to each other.
    """
    if near:
        own = odds[i]
        for j in range(n_lower):
            push[j] = weight[j] * odds[j] / (odds[j] + own)
    else:
        for j in range(n_lower):
            push[j] = weight[j] / (1.0 + exp(min(score[i] - score[j], LARGEST_EXPONENT)))
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    whole = n_lower - n_lower % 4
    for j in range(0, whole, 4):  # four sums: one would wait for every addition
        s0 += push[j]
        s1 += push[j + 1]
        s2 += push[j + 2]
        s3 += push[j + 3]
    for j in range(whole, n_lower):
        s0 += push[j]
    for j in range(n_lower):
        out[j] += push[j]
    out[i] -= (s0 + s1) + (s2 + s3)


def lambdas(score, label, gain, kind, cutoff, discount, whole, ints, floats, out):
    """out = d loss / d score; the loss is Σ |metric change| / whole × log(1 + exp(lower - higher)) over pairs of items.

    Labels must ascend, so that the items of lower labels are those before the first of a label. ``ints`` and ``floats``
    are room for two and seven numbers per item.
    """
    n = score.shape[0]
    place, item_at = ints[0], ints[1]
    count, harmonic, reading, weight = floats[0], floats[1], floats[2], floats[3]
    push, by_item, odds = floats[4], floats[5], floats[6]
    places(score, push, item_at, place)
    place_sums(kind, gain, place, item_at, count, harmonic, reading)
    first, second = relevant_place(n, count, 1.0), relevant_place(n, count, 2.0)
    highest = score[item_at[0]]
    near: cython.bint = highest - score[item_at[n - 1]] < LARGEST_EXPONENT
    for j in range(n):
        by_item[j], out[j] = discount[place[j]], 0.0
        if near:
            odds[j] = exp(score[j] - highest)
    n_lower: cython.longlong = 0
    for i in range(1, n):
        if label[i] != label[i - 1]:
            n_lower = i
        if n_lower == 0:
            continue
        if kind == GAIN:
            gain_changes(i, n_lower, gain, by_item, weight)
        elif kind == CASCADE:
            cascade_changes(i, gain, place, item_at, reading, weight)
        else:
            swap_changes(kind, i, n_lower, gain, place, count, harmonic, first, second, cutoff, weight)
        pair_pushes(i, n_lower, score, near, odds, weight, push, out)
    for j in range(n):
        out[j] /= whole


def n_units(sizes):
    """How many units the layers after the inputs have."""
    total: cython.longlong = 0
    for layer in range(1, sizes.shape[0]):
        total += sizes[layer]
    return total


def forward(lo, n, row_ptr, column, value, sizes, relu, weights, units):
    """units[i, :] = the outputs of all layers, one after the other, for the slots lo:lo+n; the last is the score."""
    width, n_layers = value.shape[1], sizes.shape[0] - 1
    at: cython.longlong = 0  # the weights of the layer
    here: cython.longlong = 0  # its units
    for layer in range(n_layers):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        last: cython.bint = layer == n_layers - 1
        before = here - n_in
        for i in range(n):
            if layer == 0 and last:  # a linear model
                total: cython.double = 0.0
                for r in range(row_ptr[lo + i], row_ptr[lo + i + 1]):
                    for f in range(width):
                        total += value[r, f] * weights[column[r] * width + f]
                units[i, 0] = total
                continue
            for h in range(n_out):
                units[i, here + h] = 0.0 if last else weights[at + n_in * n_out + h]
            if layer == 0:
                for r in range(row_ptr[lo + i], row_ptr[lo + i + 1]):
                    for f in range(width):
                        w = at + (column[r] * width + f) * n_out
                        for h in range(n_out):
                            units[i, here + h] += value[r, f] * weights[w + h]
            else:
                for k in range(n_in):
                    for h in range(n_out):
                        units[i, here + h] += units[i, before + k] * weights[at + k * n_out + h]
            if not last:
                for h in range(n_out):
                    x = units[i, here + h]
                    units[i, here + h] = max(x, 0.0) if relu else tanh(x)
        at += n_in * n_out + n_out
        here += n_out


def backward(lo, n, row_ptr, column, value, sizes, relu, weights, units, errors, gradient):
    """Backpropagation: add to ``gradient``, given errors[:, -1] of the scores; ``errors`` is shaped like ``units``."""
    width, n_layers = value.shape[1], sizes.shape[0] - 1
    at: cython.longlong = 0
    for layer in range(n_layers):
        at += sizes[layer] * sizes[layer + 1] + sizes[layer + 1]
    here = n_units(sizes)
    for layer in range(n_layers - 1, -1, -1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        last: cython.bint = layer == n_layers - 1
        at -= n_in * n_out + n_out
        here -= n_out
        before = here - n_in
        for i in range(n):
            if not last:
                for h in range(n_out):
                    x = units[i, here + h]
                    errors[i, here + h] *= (1.0 if x > 0 else 0.0) if relu else 1.0 - x * x
                    gradient[at + n_in * n_out + h] += errors[i, here + h]
            if layer == 0:
                for r in range(row_ptr[lo + i], row_ptr[lo + i + 1]):
                    for f in range(width):
                        w = at + (column[r] * width + f) * n_out
                        for h in range(n_out):
                            gradient[w + h] += value[r, f] * errors[i, here + h]
            else:
                for k in range(n_in):
                    total: cython.double = 0.0
                    for h in range(n_out):
                        total += weights[at + k * n_out + h] * errors[i, here + h]
                        gradient[at + k * n_out + h] += units[i, before + k] * errors[i, here + h]
                    errors[i, before + k] = total


def lambda_epoch(
    order: Int[::1], slot_ptr: Int[::1], row_ptr: Int[::1], column: Int32[::1], value: Float[:, ::1], sizes: Int[::1],
    relu: cython.bint, label: Float[::1], gain: Float[::1], kind: cython.int, cutoff: cython.longlong,
    discount: Float[::1], whole: Float[::1], rate: cython.double, decay: cython.double, batch: cython.longlong,
    weights: cython.double[::1],
):  # fmt: skip
    """One pass over the queries in ``order``, a step after every ``batch`` of them."""
    most, n_out = longest(0, slot_ptr.shape[0] - 1, slot_ptr), n_units(sizes)
    units: cython.double[:, ::1] = np.empty((most, n_out))
    errors: cython.double[:, ::1] = np.empty((most, n_out))
    ints: cython.longlong[:, ::1] = np.empty((2, most), np.int64)
    floats: cython.double[:, ::1] = np.empty((9, most))
    gradient: cython.double[::1] = np.zeros(len(weights))
    with cython.nogil:
        score, push = floats[7], floats[8]
        for t in range(order.shape[0]):
            lo, hi = slot_ptr[order[t]], slot_ptr[order[t] + 1]
            n = hi - lo
            if n > 0:
                forward(lo, n, row_ptr, column, value, sizes, relu, weights, units)
                for i in range(n):
                    score[i] = units[i, n_out - 1]
                lambdas(
                    score[:n], label[lo:hi], gain[lo:hi], kind, cutoff, discount, whole[order[t]], ints, floats, push
                )
                for i in range(n):
                    errors[i, n_out - 1] = push[i]
                backward(lo, n, row_ptr, column, value, sizes, relu, weights, units, errors, gradient)
            if (t + 1) % batch == 0 or t + 1 == order.shape[0]:
                n_seen = t % batch + 1
                for w in range(weights.shape[0]):
                    weights[w] -= rate * (gradient[w] / n_seen + decay * weights[w])
                    gradient[w] = 0.0


@over_queries
def net_scores(
    first: cython.longlong, last: cython.longlong, slot_ptr: Int[::1], row_ptr: Int[::1], column: Int32[::1],
    value: Float[:, ::1], sizes: Int[::1], relu: cython.bint, weights: Float[::1], out: cython.double[::1],
):  # fmt: skip
    """The score of each slot."""
    n_out = n_units(sizes)
    units: cython.double[:, ::1] = np.empty((longest(first, last, slot_ptr), n_out))
    with cython.nogil:
        for q in range(first, last):
            lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
            forward(lo, n, row_ptr, column, value, sizes, relu, weights, units)
            for i in range(n):
                out[lo + i] = units[i, n_out - 1]
