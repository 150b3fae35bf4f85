"""The multinomial preference model with a variance per item, computed pair by pair without a matrix.

The unknowns of a query are one vector: the scores s, then the logarithms of the variances γ. With x_ij =
(s_i - s_j) / (γ_i + γ_j) the log-likelihood is Σ C_ij x_ij - Σ_θ T_θ log Σ_{k≠l} exp(θ x_kl). Multiplying all s and γ
by the same number does not change it, so that number is determined by the penalty.
"""

import numpy as np

from juryrank.kernels.dense import dot
from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.mpm import ARMIJO, ROUNDING

MEMORY = 12  # previous steps stored by L-BFGS
ROUNDS = 8  # at most, of L-BFGS and rescaling; two or three are typical
FURTHEST = 2.0  # limit of the change of a log variance in one step: longer steps can overflow
TINY = 1e-300
LOG_HALF = np.log(0.5)


@kernel
def add_pair(count, i, j, s, gamma, grad):
    """Add the gradient of count·x_ij to ``grad``; returns count·x_ij."""
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
    """Σ C_ij x_ij over the pairs of all lists of a query; its gradient is added to ``grad``."""
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
def largest_difference(s, gamma):
    """The largest |x_ij|."""
    out = 0.0
    for i in range(len(s)):
        for j in range(i):
            out = max(out, abs(s[i] - s[j]) / (gamma[i] + gamma[j]))
    return out


@kernel
def subtract_normalisers(theta, total, s, gamma, grad, scale):
    """-Σ T log Z(θ); its gradient is added to ``grad``, and its curvatures to ``scale`` unless that is empty."""
    n, k = len(s), len(theta)
    z, parts, curvatures = np.zeros(k), np.zeros((2 * n, k)), np.zeros((min(2 * n, len(scale)), k))
    high = largest_difference(s, gamma)
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
                    curvatures[i, t] += weight * inverse**2
                    curvatures[j, t] += weight * inverse**2
                    curvatures[n + i, t] += weight * turn_i**2
                    curvatures[n + j, t] += weight * turn_j**2
    value = 0.0
    for t in range(k):
        value -= total[t] * (np.log(z[t]) + theta[t] * high)
        for i in range(2 * n):
            grad[i] -= total[t] / z[t] * parts[i, t]
        for i in range(len(scale)):
            scale[i] += total[t] / z[t] * curvatures[i, t]
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
    return out + subtract_normalisers(theta, total, s, gamma, grad, scale)


@kernel
def rescale(x, prior, hold):
    """Multiply scores and variances by the number that minimises the penalty; returns its logarithm."""
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
def lbfgs_direction(grad, scale, moves, changes, n_stored, p):
    """p = the L-BFGS direction from the last ``n_stored`` steps and gradient changes, newest last; returns grad · p."""
    n, alpha = len(grad), np.zeros(len(moves))
    for i in range(n):
        p[i] = grad[i]
    for back in range(n_stored):
        t = n_stored - 1 - back
        alpha[t] = dot(moves[t], p) / dot(moves[t], changes[t])
        for i in range(n):
            p[i] -= alpha[t] * changes[t, i]
    for i in range(n):
        p[i] /= scale[i]
    for t in range(n_stored):
        beta = dot(changes[t], p) / dot(moves[t], changes[t])
        for i in range(n):
            p[i] += (alpha[t] - beta) * moves[t, i]
    return dot(grad, p)


@kernel
def store_step(x, trial, grad, ahead, moves, changes, n_stored):
    """Store the step from x to trial and its gradient change, unless the curvature along it is not negative.

    When the memory is full the oldest step is dropped. Rechanges the number of stored steps.
    """
    n = len(x)
    if n_stored == len(moves):
        for t in range(n_stored - 1):
            for i in range(n):
                moves[t, i] = moves[t + 1, i]
                changes[t, i] = changes[t + 1, i]
        n_stored -= 1
    for i in range(n):
        moves[n_stored, i] = trial[i] - x[i]
        changes[n_stored, i] = grad[i] - ahead[i]
    move, change = moves[n_stored], changes[n_stored]
    if dot(move, change) <= 1e-12 * np.sqrt(dot(move, move) * dot(change, change)):
        return n_stored
    return n_stored + 1


@kernel
def longest_step(p):
    """The largest step size along p, up to 1, that changes no log variance by more than FURTHEST."""
    most = TINY
    for i in range(len(p) // 2, len(p)):
        most = max(most, abs(p[i]))
    return min(1.0, FURTHEST / most)


@kernel
def maximise_jointly(x, lists, lo, data, theta, total, prior, hold, tol, max_iter):
    """L-BFGS steps from x to a maximum; their number, or ``max_iter + 1`` if they did not converge."""
    n, whole, step = len(x), 0.0, 0
    for t in range(len(theta)):
        whole += total[t]
    grad, ahead, p, trial, scale = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    moves, changes, nothing = np.empty((MEMORY, n)), np.empty((MEMORY, n)), np.empty(0)
    for _ in range(ROUNDS):
        rescale(x, prior, hold)
        value = joint_objective(x, lists, lo, data, theta, total, prior, hold, grad, scale)
        n_stored = 0
        while True:
            gain = lbfgs_direction(grad, scale, moves, changes, n_stored, p)
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
            n_stored = store_step(x, trial, grad, ahead, moves, changes, n_stored)
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
    """Scores and variances that maximise the penalised likelihood of each query, from ``out`` and γ = 1/2."""
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
        steps[q] = maximise_jointly(
            x, lists, lo, data, theta[t:stop], total[t:stop], prior * each, hold * each, tol, max_iter
        )
        for i in range(hi - lo):
            out[lo + i] = x[i]
            gamma[lo + i] = np.exp(x[hi - lo + i])
