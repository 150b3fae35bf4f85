"""The multinomial preference model with a variance per item: sums over pairs, one pair at a time, no matrix.

The unknowns of a query stand in one vector: the scores s, then the logarithms of the variances γ. With x_ij =
(s_i - s_j) / (γ_i + γ_j) the log-likelihood is Σ C_ij x_ij - Σ_θ T_θ log Σ_{k≠l} exp(θ x_kl); multiplying all s and γ
by one number does not change it, so the penalty alone decides that number.
"""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.mpm import ARMIJO, ROUNDING, dot

MEMORY = 12  # steps that L-BFGS remembers
ROUNDS = 8  # of climbing and rescaling; two or three are usual
FURTHEST = 2.0  # a step may change a variance by exp(2) at most: far ones can overflow
TINY = 1e-300
LOG_HALF = np.log(0.5)


@kernel
def add_pair(count, i, j, s, gamma, grad):
    """Add count·x_ij to the gradient; returns the value."""
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
    peak = np.empty(k)
    for t in range(k):
        peak[t] = np.exp(-2.0 * theta[t] * high)
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
    s, gamma = x[:n], np.empty(n)
    out = 0.0
    for i in range(n):
        gamma[i] = np.exp(x[n + i])
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
    """Multiply scores and variances by the number the penalty likes best; returns its logarithm."""
    n = len(x) // 2
    spread, away = 0.0, 0.0
    for i in range(n):
        spread += prior / hold * x[i] * x[i] / n
        away += (x[n + i] - LOG_HALF) / n
    log_c = 0.0
    for _ in range(100):
        c2 = np.exp(2.0 * log_c) * spread
        step = (c2 + away + log_c) / (2.0 * c2 + 1.0)
        log_c -= step
        if abs(step) < 1e-15:
            break
    for i in range(n):
        x[i] *= np.exp(log_c)
        x[n + i] += log_c
    return log_c


@kernel
def remembered_direction(grad, scale, moves, turns, n_kept, p):
    """The L-BFGS direction: two loops over the last ``n_kept`` moves and turns of the gradient, newest last."""
    n, alpha = len(grad), np.zeros(len(moves))
    for i in range(n):
        p[i] = grad[i]
    for back in range(n_kept):
        t = n_kept - 1 - back
        alpha[t] = dot(moves[t], p) / dot(moves[t], turns[t])
        for i in range(n):
            p[i] -= alpha[t] * turns[t, i]
    for i in range(n):
        p[i] /= scale[i]
    for t in range(n_kept):
        beta = dot(turns[t], p) / dot(moves[t], turns[t])
        for i in range(n):
            p[i] += (alpha[t] - beta) * moves[t, i]
    return dot(grad, p)


@kernel
def remember(x, trial, grad, ahead, moves, turns, n_kept):
    """Keep the move from x to trial and the turn of the gradient, the oldest falls out; only a concave turn is kept."""
    n = len(x)
    if n_kept == len(moves):
        for t in range(n_kept - 1):
            for i in range(n):
                moves[t, i] = moves[t + 1, i]
                turns[t, i] = turns[t + 1, i]
        n_kept -= 1
    for i in range(n):
        moves[n_kept, i] = trial[i] - x[i]
        turns[n_kept, i] = grad[i] - ahead[i]
    move, turn = moves[n_kept], turns[n_kept]
    if dot(move, turn) <= 1e-12 * np.sqrt(dot(move, move) * dot(turn, turn)):
        return n_kept
    return n_kept + 1


@kernel
def longest_step(p):
    """How far to go along p at most."""
    most = TINY
    for i in range(len(p) // 2, len(p)):
        most = max(most, abs(p[i]))
    return min(1.0, FURTHEST / most)


@kernel
def joint_climb(x, lists, lo, data, theta, total, prior, hold, tol, max_iter):
    """L-BFGS steps from x to a maximum; their number, or ``max_iter + 1`` if they did not converge."""
    n, whole, step = len(x), 0.0, 0
    for t in range(len(theta)):
        whole += total[t]
    grad, ahead, p, trial, scale = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    moves, turns, nothing = np.empty((MEMORY, n)), np.empty((MEMORY, n)), np.empty(0)
    for _ in range(ROUNDS):
        rescale(x, prior, hold)
        value = joint_objective(x, lists, lo, data, theta, total, prior, hold, grad, scale)
        n_kept = 0
        while True:
            gain = remembered_direction(grad, scale, moves, turns, n_kept, p)
            if gain <= tol * whole:
                break
            step += 1
            if step > max_iter:
                return step
            size = longest_step(p)
            while True:
                for i in range(n):
                    trial[i] = x[i] + size * p[i]
                found = joint_objective(trial, lists, lo, data, theta, total, prior, hold, ahead, nothing)
                if found >= value + ARMIJO * size * gain - ROUNDING * abs(value) or size < 1e-12:
                    break
                size *= 0.5
            n_kept = remember(x, trial, grad, ahead, moves, turns, n_kept)
            value = found
            for i in range(n):
                x[i], grad[i] = trial[i], ahead[i]
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
        whole = 0.0
        for at in range(t, stop):
            whole += total[at]
        if whole == 0:
            continue
        x = np.full(2 * (hi - lo), LOG_HALF)
        x[: hi - lo] = out[lo:hi]
        lists = (list_ptr[q], list_ptr[q + 1])
        each = whole / (hi - lo)
        steps[q] = joint_climb(
            x, lists, lo, data, theta[t:stop], total[t:stop], prior * each, hold * each, tol, max_iter
        )
        for i in range(hi - lo):
            out[lo + i] = x[i]
            gamma[lo + i] = np.exp(x[hi - lo + i])
