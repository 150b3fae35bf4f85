"""LambdaRank: a neural network over sparse rows, and the gradient of a pairwise loss weighted by metric changes.

The network has ``sizes`` = (inputs, hidden, …, 1) and its parameters in one flat array: for each layer the weights
[inputs, outputs] and then the biases, except in the last layer (a bias of the score cancels within a query).
"""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.ragged import SHORT, count_ahead, digit_order

LARGEST_EXPONENT = 700.0  # exp of it and of minus it are numbers
GAIN, PRECISION_SUM, CASCADE, FIRST, CUT, PAIRS = 0, 1, 2, 3, 4, 5  # nDCG, AP, ERR, RR, P, Kendall's tau


@kernel
def places(score, out):
    """The place of each item by its score, from 0; of equal scores, the first item is first."""
    if len(score) <= SHORT and count_ahead(score, out):
        return
    order = np.empty(len(score), np.int64)
    digit_order(score, order)
    for a in range(len(order)):
        out[order[a]] = a


@kernel
def place_sums(kind, gain, place, item_at, count, harmonic, reading):
    """By place: the item, the relevant items down to it, the sum of 1 / place over them, the probability to read it.

    Returns the places of the first and the second relevant item, n where there is none.
    """
    n = len(gain)
    for i in range(n):
        item_at[place[i]] = i
    first, second, found, sum_, left = n, n, 0.0, 0.0, 1.0
    for a in range(n):
        g = gain[item_at[a]]
        reading[a] = left
        if kind == CASCADE:
            left *= 1.0 - g
        if g > 0.0:
            found += 1.0
            sum_ += 1.0 / (a + 1)
            if first == n:
                first = a
            elif second == n:
                second = a
        count[a], harmonic[a] = found, sum_
    return first, second


@kernel
def swap_change(kind, a, b, better_is_above, count, harmonic, first, second, cutoff):
    """The change of an unnormalised metric of binary gains if the items at places a < b are swapped."""
    if kind == PAIRS:
        return 1.0
    if kind == PRECISION_SUM:
        found = count[a] + (0.0 if better_is_above else 1.0)
        return found / (a + 1) - count[b] / (b + 1) + harmonic[b - 1] - harmonic[a]
    if kind == FIRST:
        if better_is_above:
            return 1.0 / (a + 1) - 1.0 / (min(second, b) + 1) if a == first else 0.0
        return 1.0 / (a + 1) - 1.0 / (first + 1) if a < first else 0.0
    return 1.0 if a < cutoff <= b else 0.0


@kernel
def cascade_changes(i, gain, place, item_at, reading, out):
    """out[j] = the change of the expected reciprocal rank if the items i and j are swapped."""
    between, through = 0.0, 1.0  # what is read between the two places: value and probability to go on
    for b in range(place[i] + 1, len(gain)):
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


@kernel
def pair_pushes(i, n_lower, score, odds, weight, push, out):
    """Add the gradient of Σ weight[j] × log(1 + exp(score[j] - score[i])) over the items j < n_lower to ``out``.

    ``odds`` are exponentials of the scores; they are empty where these differ too much.
    """
    if len(odds) > 0:
        own = odds[i]
        for j in range(n_lower):
            push[j] = weight[j] * odds[j] / (odds[j] + own)
    else:
        for j in range(n_lower):
            push[j] = weight[j] / (1.0 + np.exp(min(score[i] - score[j], LARGEST_EXPONENT)))
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for j in range(0, n_lower - n_lower % 4, 4):  # four sums: one would wait for every addition
        s0 += push[j]
        s1 += push[j + 1]
        s2 += push[j + 2]
        s3 += push[j + 3]
    for j in range(n_lower - n_lower % 4, n_lower):
        s0 += push[j]
    for j in range(n_lower):
        out[j] += push[j]
    out[i] -= (s0 + s1) + (s2 + s3)


@kernel
def lambdas(score, label, gain, kind, cutoff, discount, whole, out):
    """out = d loss / d score; the loss is Σ |metric change| / whole × log(1 + exp(lower - higher)) over pairs of items.

    Labels must ascend, so that the items of lower labels are those before the first of a label.
    """
    n = len(score)
    place, item_at = np.zeros(n, np.int64), np.empty(n, np.int64)
    count, harmonic, reading = np.empty(n), np.empty(n), np.empty(n)
    weight, push, by_item = np.empty(n), np.empty(n), np.empty(n)
    places(score, place)
    first, second = place_sums(kind, gain, place, item_at, count, harmonic, reading)
    lowest, highest = score[item_at[n - 1]], score[item_at[0]]
    odds = np.empty(n if highest - lowest < LARGEST_EXPONENT else 0)
    for j in range(n):
        by_item[j], out[j] = discount[place[j]], 0.0
    for j in range(len(odds)):
        odds[j] = np.exp(score[j] - highest)
    n_lower = 0
    for i in range(1, n):
        if label[i] != label[i - 1]:
            n_lower = i
        if n_lower == 0:
            continue
        if kind == GAIN:
            for j in range(n_lower):
                weight[j] = (gain[i] - gain[j]) * abs(by_item[i] - by_item[j])
        elif kind == CASCADE:
            cascade_changes(i, gain, place, item_at, reading, weight)
        else:
            for j in range(n_lower):
                a, b = min(place[i], place[j]), max(place[i], place[j])
                same = gain[i] == gain[j] and kind != PAIRS
                change = swap_change(kind, a, b, a == place[i], count, harmonic, first, second, cutoff)
                weight[j] = 0.0 if same else change
        pair_pushes(i, n_lower, score, odds, weight, push, out)
    for j in range(n):
        out[j] /= whole


@kernel
def forward(lo, n, row_ptr, column, value, sizes, relu, weights, units):
    """units[i, :] = the outputs of all layers, one after the other, for the slots lo:lo+n; the last is the score."""
    width = value.shape[1]
    at = 0
    for layer in range(len(sizes) - 1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        last = layer == len(sizes) - 2
        here = sizes[1 : layer + 1].sum()
        before = here - n_in
        for i in range(n):
            if layer == 0 and last:  # a linear model
                total = 0.0
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
                    units[i, here + h] = max(x, 0.0) if relu else np.tanh(x)
        at += n_in * n_out + n_out


@kernel
def backward(lo, n, row_ptr, column, value, sizes, relu, weights, units, errors, gradient):
    """Backpropagation: add to ``gradient``, given errors[:, -1] of the scores; ``errors`` is shaped like ``units``."""
    width = value.shape[1]
    at = 0
    for layer in range(len(sizes) - 1):
        at += sizes[layer] * sizes[layer + 1] + sizes[layer + 1]
    for layer in range(len(sizes) - 2, -1, -1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        last = layer == len(sizes) - 2
        at -= n_in * n_out + n_out
        here = sizes[1 : layer + 1].sum()
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
                    total = 0.0
                    for h in range(n_out):
                        total += weights[at + k * n_out + h] * errors[i, here + h]
                        gradient[at + k * n_out + h] += units[i, before + k] * errors[i, here + h]
                    errors[i, before + k] = total


@kernel
def lambda_epoch(
    order, slot_ptr, row_ptr, column, value, sizes, relu, label, gain, kind, cutoff, discount, whole, rate, decay,
    batch, weights,
):  # fmt: skip
    """One pass over the queries in ``order``, a step after every ``batch`` of them."""
    gradient = np.zeros(len(weights))
    n_units = sizes[1:].sum()
    for t in range(len(order)):
        q = order[t]
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        units, errors = np.empty((n, n_units)), np.zeros((n, n_units))
        forward(lo, n, row_ptr, column, value, sizes, relu, weights, units)
        score, push = np.empty(n), np.empty(n)
        for i in range(n):
            score[i] = units[i, n_units - 1]
        lambdas(score, label[lo : lo + n], gain[lo : lo + n], kind, cutoff, discount, whole[q], push)
        for i in range(n):
            errors[i, n_units - 1] = push[i]
        backward(lo, n, row_ptr, column, value, sizes, relu, weights, units, errors, gradient)
        if (t + 1) % batch == 0 or t + 1 == len(order):
            n_seen = t % batch + 1
            for w in range(len(weights)):
                weights[w] -= rate * (gradient[w] / n_seen + decay * weights[w])
                gradient[w] = 0.0


@over_queries
def net_scores(first, last, slot_ptr, row_ptr, column, value, sizes, relu, weights, out):
    """The score of each slot."""
    for q in range(first, last):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        units = np.empty((n, sizes[1:].sum()))
        forward(lo, n, row_ptr, column, value, sizes, relu, weights, units)
        for i in range(n):
            out[lo + i] = units[i, -1]
