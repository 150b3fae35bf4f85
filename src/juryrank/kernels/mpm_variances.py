"""The multinomial preference model with a variance per item: sums over pairs, one pair at a time, no matrix.

The unknowns of a query stand in one vector: the scores s, then the logarithms of the variances γ. With x_ij =
(s_i - s_j) / (γ_i + γ_j) the log-likelihood is Σ C_ij x_ij - Σ_θ T_θ log Σ_{k≠l} exp(θ x_kl); multiplying all s and γ
by one number does not change it, so the penalty alone decides that number.
"""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.mpm import ARMIJO, ROUNDING

MEMORY = 12  # steps that L-BFGS remembers
ROUNDS = 8  # of climbing and rescaling; two or three are usual
FURTHEST = 2.0  # a step may change a variance by exp(2) at most: far ones can overflow
TINY = 1e-300
LOG_HALF = np.log(0.5)


@kernel
def add_pair(count, i, j, s, gamma, grad):
    """Add count·x_ij to the gradient; gives the value."""
    n = len(s)
    inverse = 1.0 / (gamma[i] + gamma[j])
    x = (s[i] - s[j]) * inverse
    pull = count * inverse
    grad[i] += pull
    grad[j] -= pull
    grad[n + i] -= pull * x * gamma[i]
    grad[n + j] -= pull * x * gamma[j]
    return count * x


@kernel
def add_counts(lists, lo, entry_ptr, entry_slot, value, beyond, weight, binary, last, s, gamma, grad):
    """Σ C_ij x_ij over the pairs of all lists of a query, and its gradient."""
    out = 0.0
    unranked = np.empty(len(s), np.bool_)
    for m in range(lists[0], lists[1]):
        begin, end = entry_ptr[m], entry_ptr[m + 1]
        for e in range(begin, end):
            i = entry_slot[e] - lo
            for f in range(e + 1, end):
                gap = value[f] - value[e]
                if gap != 0.0:
                    count = np.sign(gap) if binary else gap
                    out += add_pair(weight[m] * count, i, entry_slot[f] - lo, s, gamma, grad)
        if not last or end - begin == len(s):
            continue
        unranked[:] = True
        for e in range(begin, end):
            unranked[entry_slot[e] - lo] = False
        for e in range(begin, end):
            count = weight[m] * (1.0 if binary else beyond[m] - value[e])
            for j in range(len(s)):
                if unranked[j]:
                    out += add_pair(count, entry_slot[e] - lo, j, s, gamma, grad)
    return out


@kernel
def widest(s, gamma):
    """The largest |x_ij|."""
    out = 0.0
    for i in range(len(s)):
        for j in range(i):
            out = max(out, abs(s[i] - s[j]) / (gamma[i] + gamma[j]))
    return out


@kernel
def take_normalisers(theta, total, s, gamma, grad, scale):
    """-Σ T log Z(θ) and its gradient; ``scale``, where it is not empty, gets the curvature of each unknown."""
    n, k = len(s), len(theta)
    z, parts, bends = np.zeros(k), np.zeros((2 * n, k)), np.zeros((min(2 * n, len(scale)), k))
    high = widest(s, gamma)
    peak = np.exp(-2.0 * theta * high)
    for i in range(n):
        for j in range(i):
            inverse = 1.0 / (gamma[i] + gamma[j])
            x = (s[i] - s[j]) * inverse
            turn_i, turn_j = -x * gamma[i] * inverse, -x * gamma[j] * inverse
            for t in range(k):
                more = np.exp(theta[t] * (abs(x) - high))
                less = peak[t] / more if more > 0.0 else 0.0
                z[t] += more + less
                pull = theta[t] * (more - less if x > 0.0 else less - more)
                parts[i, t] += pull * inverse
                parts[j, t] -= pull * inverse
                parts[n + i, t] += pull * turn_i
                parts[n + j, t] += pull * turn_j
                if len(scale):
                    weight = theta[t] * theta[t] * (more + less)
                    bends[i, t] += weight * inverse**2
                    bends[j, t] += weight * inverse**2
                    bends[n + i, t] += weight * turn_i**2
                    bends[n + j, t] += weight * turn_j**2
    value = 0.0
    for t in range(k):
        value -= total[t] * (np.log(z[t]) + theta[t] * high)
        for i in range(2 * n):
            grad[i] -= total[t] / z[t] * parts[i, t]
        for i in range(len(scale)):
            scale[i] += total[t] / z[t] * bends[i, t]
    return value


@kernel
def joint_objective(x, lists, lo, data, theta, total, prior, hold, grad, scale):
    """The penalised log-likelihood of scores and log variances of one query, and its gradient."""
    entry_ptr, entry_slot, value, beyond, weight, binary, last = data
    n = len(x) // 2
    s, gamma = x[:n], np.exp(x[n:])
    out = 0.0
    for i in range(n):
        away = x[n + i] - LOG_HALF
        out -= 0.5 * (prior * s[i] * s[i] + hold * away * away)
        grad[i] = -prior * s[i]
        grad[n + i] = -hold * away
    for i in range(len(scale)):
        scale[i] = prior if i < n else hold
    out += add_counts(lists, lo, entry_ptr, entry_slot, value, beyond, weight, binary, last, s, gamma, grad)
    return out + take_normalisers(theta, total, s, gamma, grad, scale)


@kernel
def rescale(x, prior, hold):
    """Multiply scores and variances by the number the penalty likes best; gives its logarithm."""
    n = len(x) // 2
    spread = prior / hold * (x[:n] ** 2).mean()
    away = (x[n:] - LOG_HALF).mean()
    log_c = 0.0
    for _ in range(100):
        c2 = np.exp(2.0 * log_c) * spread
        step = (c2 + away + log_c) / (2.0 * c2 + 1.0)
        log_c -= step
        if abs(step) < 1e-15:
            break
    x[:n] *= np.exp(log_c)
    x[n:] += log_c
    return log_c


@kernel
def remembered_direction(grad, scale, moves, turns, n_kept, p):
    """The L-BFGS direction: two loops over the last ``n_kept`` moves and turns of the gradient, newest last."""
    p[:] = grad
    alpha = np.zeros(len(moves))
    for back in range(n_kept):
        t = n_kept - 1 - back
        alpha[t] = (moves[t] * p).sum() / (moves[t] * turns[t]).sum()
        p -= alpha[t] * turns[t]
    p /= scale
    for t in range(n_kept):
        beta = (turns[t] * p).sum() / (moves[t] * turns[t]).sum()
        p += (alpha[t] - beta) * moves[t]
    return (grad * p).sum()


@kernel
def remember(move, turn, moves, turns, n_kept):
    """Keep a move and a turn, the oldest falls out; a turn that is not concave is left out."""
    if (move * turn).sum() <= 1e-12 * np.sqrt((move * move).sum() * (turn * turn).sum()):
        return n_kept
    if n_kept == len(moves):
        for t in range(n_kept - 1):
            moves[t] = moves[t + 1]
            turns[t] = turns[t + 1]
        n_kept -= 1
    moves[n_kept] = move
    turns[n_kept] = turn
    return n_kept + 1


@kernel
def joint_climb(x, lists, lo, data, theta, total, prior, hold, tol, max_iter):
    """L-BFGS steps from x to a maximum; gives their number, ``max_iter + 1`` where they did not settle."""
    n = len(x)
    grad, ahead, p, scale, nothing = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(0)
    moves, turns = np.empty((MEMORY, n)), np.empty((MEMORY, n))
    step = 0
    for _ in range(ROUNDS):
        rescale(x, prior, hold)
        value = joint_objective(x, lists, lo, data, theta, total, prior, hold, grad, scale)
        n_kept = 0
        while True:
            gain = remembered_direction(grad, scale, moves, turns, n_kept, p)
            if gain <= tol * total.sum():
                break
            step += 1
            if step > max_iter:
                return step
            size = min(1.0, FURTHEST / max(np.abs(p[n // 2 :]).max(), TINY))
            while True:
                trial = x + size * p
                found = joint_objective(trial, lists, lo, data, theta, total, prior, hold, ahead, nothing)
                if found >= value + ARMIJO * size * gain - ROUNDING * abs(value) or size < 1e-12:
                    break
                size *= 0.5
            n_kept = remember(trial - x, grad - ahead, moves, turns, n_kept)
            x[:] = trial
            value = found
            grad[:] = ahead
        if abs(rescale(x, prior, hold)) < 1e-6:
            break
    return step


@over_queries
def scores_and_variances(
    first, end, slot_ptr, theta_ptr, list_ptr, entry_ptr, entry_slot, value, beyond, weight, binary, last,
    theta, total, prior, hold, tol, max_iter, steps, out, gamma,
):  # fmt: skip
    """Scores and variances of highest penalised likelihood of each query, from the scores in ``out`` and γ = 1/2."""
    data = (entry_ptr, entry_slot, value, beyond, weight, binary, last)
    for q in range(first, end):
        lo, hi = slot_ptr[q], slot_ptr[q + 1]
        gamma[lo:hi] = 0.5
        t, stop = theta_ptr[q], theta_ptr[q + 1]
        if total[t:stop].sum() == 0:
            continue
        x = np.full(2 * (hi - lo), LOG_HALF)
        x[: hi - lo] = out[lo:hi]
        lists = (list_ptr[q], list_ptr[q + 1])
        each = total[t:stop].sum() / (hi - lo)
        steps[q] = joint_climb(
            x, lists, lo, data, theta[t:stop], total[t:stop], prior * each, hold * each, tol, max_iter
        )
        out[lo:hi] = x[: hi - lo]
        gamma[lo:hi] = np.exp(x[hi - lo :])
