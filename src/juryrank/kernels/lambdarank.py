"""LambdaRank: a neural network over sparse rows, and the gradient of a pairwise loss weighted by metric changes.

The network has ``sizes`` = (inputs, hidden, …, 1) and its parameters in one flat array: for each layer the weights
[inputs, outputs] and then the biases, except in the last layer (a bias of the score cancels within a query).
"""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries

GAIN, PRECISION_SUM, CASCADE, FIRST, CUT, PAIRS = 0, 1, 2, 3, 4, 5  # nDCG, AP, ERR, RR, P, Kendall's tau


@kernel
def swap_change(
    kind, a, b, gain_a, gain_b, discount, count, harmonic, first, second, between, through, reading, cutoff
):
    """The change of the unnormalised metric if the items at places a < b (from 0) are swapped."""
    differ = abs(gain_a - gain_b)
    if kind == GAIN:
        return differ * (discount[a] - discount[b])
    if kind == PAIRS:
        return 1.0
    if kind == CASCADE:
        return differ * reading[a] * abs(1.0 / (a + 1) - between - through / (b + 1))
    if differ == 0.0:
        return 0.0
    if kind == PRECISION_SUM:
        found = count[a] + (1.0 if gain_a == 0.0 else 0.0)
        return found / (a + 1) - count[b] / (b + 1) + harmonic[b - 1] - harmonic[a]
    if kind == FIRST:
        if gain_a > 0.0:
            return 1.0 / (a + 1) - 1.0 / (min(second, b) + 1) if a == first else 0.0
        return 1.0 / (a + 1) - 1.0 / (first + 1) if a < first else 0.0
    return 1.0 if a < cutoff <= b else 0.0


@kernel
def logistic_loss(margin, weight):
    """weight × log(1 + exp(-margin)), and minus its derivative; for any margin."""
    if margin > 0:
        e = np.exp(-margin)
        return weight * np.log1p(e), weight * e / (1.0 + e)
    e = np.exp(margin)
    return weight * (np.log1p(e) - margin), weight / (1.0 + e)


@kernel
def lambdas(score, label, gain, kind, cutoff, discount, whole, out):
    """out = d loss / d score; returns the loss, Σ |metric change| / whole × log(1 + exp(lower - higher)) over pairs."""
    n = len(score)
    order = np.argsort(-score, kind="mergesort")
    count, harmonic, reading = np.zeros(n), np.zeros(n), np.ones(n)
    first, second, found, sum_, left = n, n, 0.0, 0.0, 1.0
    for a in range(n):
        g = gain[order[a]]
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
    out[:] = 0.0
    loss = 0.0
    for a in range(n):
        i = order[a]
        between, through = 0.0, 1.0
        for b in range(a + 1, n):
            j = order[b]
            if label[i] != label[j]:
                weight = swap_change(
                    kind, a, b, gain[i], gain[j], discount, count, harmonic, first, second, between, through, reading,
                    cutoff,
                ) / whole  # fmt: skip
                high, low = (i, j) if label[i] > label[j] else (j, i)
                pair_loss, push = logistic_loss(score[high] - score[low], weight)
                loss += pair_loss
                out[high] -= push
                out[low] += push
            if kind == CASCADE:
                between += through * gain[j] / (b + 1)
                through *= 1.0 - gain[j]
    return loss


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
    """One pass over the queries in ``order``, a step after every ``batch`` of them; returns the sum of their losses."""
    gradient = np.zeros(len(weights))
    n_units = sizes[1:].sum()
    loss = 0.0
    for t in range(len(order)):
        q = order[t]
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        units, errors = np.empty((n, n_units)), np.zeros((n, n_units))
        forward(lo, n, row_ptr, column, value, sizes, relu, weights, units)
        score, push = units[:, -1].copy(), np.empty(n)
        loss += lambdas(score, label[lo : lo + n], gain[lo : lo + n], kind, cutoff, discount, whole[q], push)
        errors[:, -1] = push
        backward(lo, n, row_ptr, column, value, sizes, relu, weights, units, errors, gradient)
        if (t + 1) % batch == 0 or t + 1 == len(order):
            n_seen = t % batch + 1
            for w in range(len(weights)):
                weights[w] -= rate * (gradient[w] / n_seen + decay * weights[w])
                gradient[w] = 0.0
    return loss


@over_queries
def net_scores(first, last, slot_ptr, row_ptr, column, value, sizes, relu, weights, out):
    """The score of each slot."""
    for q in range(first, last):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        units = np.empty((n, sizes[1:].sum()))
        forward(lo, n, row_ptr, column, value, sizes, relu, weights, units)
        for i in range(n):
            out[lo + i] = units[i, -1]
