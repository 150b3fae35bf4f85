"""The multinomial preference model with a variance per item, computed pair by pair without a matrix.

The unknowns of a query are one vector: the scores s, then the logarithms of the variances γ. With x_ij =
(s_i - s_j) / (γ_i + γ_j) the log-likelihood is Σ C_ij x_ij - Σ_θ T_θ log Σ_{k≠l} exp(θ x_kl). Multiplying all s and γ
by the same number does not change it, so that number is determined by the penalty.
"""

import cython
import numpy as np
from cython.cimports.libc.math import exp, log, sqrt

from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.dense import dot
    from juryrank.kernels.elements import Float, Int, Int32
    from juryrank.kernels.mpm import ARMIJO, ROUNDING
    from juryrank.kernels.ragged import longest

MEMORY = cython.declare(cython.longlong, 12)  # previous steps stored by L-BFGS
ROUNDS = cython.declare(cython.longlong, 8)  # at most, of L-BFGS and rescaling; two or three are typical
FURTHEST = cython.declare(cython.double, 2.0)  # limit of one step of a log variance: longer steps can overflow
TINY = cython.declare(cython.double, 1e-300)
LOG_HALF = cython.declare(cython.double, log(0.5))


@cython.cclass
class Query:
    """The counts of one query, the strengths of its priors, and memory for its fit."""

    def __init__(self, n, k):
        self.unranked, self.gamma = np.empty(n, np.uint8), np.empty(n)
        self.z, self.peak, self.alpha = np.empty(k), np.empty(k), np.empty(MEMORY)
        self.parts, self.curvatures, self.vectors = np.empty((2 * n, k)), np.empty((2 * n, k)), np.empty((6, 2 * n))
        self.moves, self.changes = np.empty((MEMORY, 2 * n)), np.empty((MEMORY, 2 * n))


def add_pair(count, i, j, s, gamma, grad):
    """Add the gradient of count·x_ij to ``grad``; returns count·x_ij."""
    n = s.shape[0]
    inverse = 1.0 / (gamma[i] + gamma[j])
    x = (s[i] - s[j]) * inverse
    pull = count * inverse
    grad[i] += pull
    grad[j] -= pull
    grad[n + i] -= pull * x * gamma[i]
    grad[n + j] -= pull * x * gamma[j]
    return count * x


def add_counts(query, s, grad):
    """Σ C_ij x_ij over the pairs of all lists of a query; its gradient is added to ``grad``."""
    out, n, lo = 0.0, s.shape[0], query.lo
    value: Float[::1] = query.value
    gamma: cython.double[::1] = query.gamma
    entry_slot: Int32[::1] = query.entry_slot
    unranked: cython.uchar[::1] = query.unranked
    for m in range(query.first_list, query.last_list):
        begin, end, weight = query.entry_ptr[m], query.entry_ptr[m + 1], query.weight[m]
        for e in range(begin, end):
            i = entry_slot[e] - lo
            for f in range(e + 1, end):
                gap = value[f] - value[e]
                if gap != 0.0:
                    count = (1.0 if gap > 0.0 else -1.0) if query.binary else gap
                    out += add_pair(weight * count, i, entry_slot[f] - lo, s, gamma, grad)
        if not query.last or end - begin == n:
            continue
        for j in range(n):
            unranked[j] = True
        for e in range(begin, end):
            unranked[entry_slot[e] - lo] = False
        for e in range(begin, end):
            count = weight * (1.0 if query.binary else query.beyond[m] - value[e])
            for j in range(n):
                if unranked[j]:
                    out += add_pair(count, entry_slot[e] - lo, j, s, gamma, grad)
    return out


def largest_difference(s, gamma):
    """The largest |x_ij|."""
    out: cython.double = 0
    for i in range(s.shape[0]):
        for j in range(i):
            out = max(out, abs(s[i] - s[j]) / (gamma[i] + gamma[j]))
    return out


def subtract_normalisers(query, s, grad, scale):
    """-Σ T log Z(θ); its gradient is added to ``grad``, and its curvatures to ``scale`` unless that is empty."""
    n, k = s.shape[0], query.theta.shape[0]
    theta: Float[::1] = query.theta
    gamma, z, peak, parts, curvatures = query.gamma, query.z, query.peak, query.parts, query.curvatures
    curved: cython.bint = scale.shape[0] > 0
    high = largest_difference(s, gamma)
    for t in range(k):
        z[t] = 0.0
        peak[t] = exp(-2.0 * theta[t] * high)
        for i in range(2 * n):
            parts[i, t] = curvatures[i, t] = 0.0
    for i in range(n):
        for j in range(i):
            inverse = 1.0 / (gamma[i] + gamma[j])
            x = (s[i] - s[j]) * inverse
            turn_i, turn_j = -x * gamma[i] * inverse, -x * gamma[j] * inverse
            for t in range(k):
                more = exp(theta[t] * (abs(x) - high))
                less = peak[t] / more if more > 0.0 else 0.0
                z[t] += more + less
                pull = theta[t] * (more - less if x > 0.0 else less - more)
                parts[i, t] += pull * inverse
                parts[j, t] -= pull * inverse
                parts[n + i, t] += pull * turn_i
                parts[n + j, t] += pull * turn_j
                if curved:
                    weight = theta[t] * theta[t] * (more + less)
                    curvatures[i, t] += weight * (inverse * inverse)
                    curvatures[j, t] += weight * (inverse * inverse)
                    curvatures[n + i, t] += weight * (turn_i * turn_i)
                    curvatures[n + j, t] += weight * (turn_j * turn_j)
    value = 0.0
    for t in range(k):
        total = query.total[t]
        value -= total * (log(z[t]) + theta[t] * high)
        for i in range(2 * n):
            grad[i] -= total / z[t] * parts[i, t]
        for i in range(scale.shape[0]):
            scale[i] += total / z[t] * curvatures[i, t]
    return value


def joint_objective(query, x, grad, scale):
    """The penalised log-likelihood of scores and log variances of one query, and its gradient."""
    n = x.shape[0] // 2
    prior, hold, gamma, out = query.prior, query.hold, query.gamma, 0.0
    for i in range(n):
        gamma[i] = exp(x[n + i])
        away = x[n + i] - LOG_HALF
        out -= 0.5 * (prior * x[i] * x[i] + hold * away * away)
        grad[i] = -prior * x[i]
        grad[n + i] = -hold * away
    for i in range(scale.shape[0]):
        scale[i] = prior if i < n else hold
    out += add_counts(query, x[:n], grad)
    return out + subtract_normalisers(query, x[:n], grad, scale)


def rescale(x, prior, hold):
    """Multiply scores and variances by the number that minimises the penalty; returns its logarithm."""
    n = x.shape[0] // 2
    spread, away = 0.0, 0.0
    for i in range(n):
        spread += prior / hold * x[i] * x[i] / n
        away += (x[n + i] - LOG_HALF) / n
    log_c = 0.0
    for _ in range(100):
        c2 = exp(2.0 * log_c) * spread
        step = (c2 + away + log_c) / (2.0 * c2 + 1.0)
        log_c -= step
        if abs(step) < 1e-15:
            break
    for i in range(n):
        x[i] *= exp(log_c)
        x[n + i] += log_c
    return log_c


def lbfgs_direction(query, grad, scale, n_stored, p):
    """p = the L-BFGS direction from the last ``n_stored`` steps and gradient changes, newest last; returns grad · p."""
    n = grad.shape[0]
    alpha, moves, changes = query.alpha, query.moves, query.changes
    for i in range(n):
        p[i] = grad[i]
    for t in range(n_stored - 1, -1, -1):
        alpha[t] = dot(moves[t, :n], p) / dot(moves[t, :n], changes[t, :n])
        for i in range(n):
            p[i] -= alpha[t] * changes[t, i]
    for i in range(n):
        p[i] /= scale[i]
    for t in range(n_stored):
        beta = dot(changes[t, :n], p) / dot(moves[t, :n], changes[t, :n])
        for i in range(n):
            p[i] += (alpha[t] - beta) * moves[t, i]
    return dot(grad, p)


def store_step(query, x, trial, grad, ahead, n_stored):
    """Store the step from x to trial and its gradient change, unless the curvature along it is not negative.

    When the memory is full the oldest step is dropped. Rechanges the number of stored steps.
    """
    n, moves, changes = x.shape[0], query.moves, query.changes
    if n_stored == MEMORY:
        for t in range(MEMORY - 1):
            for i in range(n):
                moves[t, i] = moves[t + 1, i]
                changes[t, i] = changes[t + 1, i]
        n_stored -= 1
    for i in range(n):
        moves[n_stored, i] = trial[i] - x[i]
        changes[n_stored, i] = grad[i] - ahead[i]
    move, change = moves[n_stored, :n], changes[n_stored, :n]
    if dot(move, change) <= 1e-12 * sqrt(dot(move, move) * dot(change, change)):
        return n_stored
    return n_stored + 1


def longest_step(p):
    """The largest step size along p, up to 1, that changes no log variance by more than FURTHEST."""
    most: cython.double = TINY
    for i in range(p.shape[0] // 2, p.shape[0]):
        most = max(most, abs(p[i]))
    return min(1.0, FURTHEST / most)


def maximise_jointly(query, x, tol, max_iter):
    """L-BFGS steps from x to a maximum; their number, or ``max_iter + 1`` if they did not converge."""
    n, whole = x.shape[0], 0.0
    step: cython.longlong = 0
    for t in range(query.theta.shape[0]):
        whole += query.total[t]
    vectors = query.vectors
    grad, ahead, p, trial, scale = vectors[1, :n], vectors[2, :n], vectors[3, :n], vectors[4, :n], vectors[5, :n]
    for _ in range(ROUNDS):
        rescale(x, query.prior, query.hold)
        value = joint_objective(query, x, grad, scale)
        n_stored: cython.longlong = 0
        while True:
            gain = lbfgs_direction(query, grad, scale, n_stored, p)
            if gain <= tol * whole:
                break
            step += 1
            if step > max_iter:
                return step
            size = longest_step(p)
            while True:
                for i in range(n):
                    trial[i] = x[i] + size * p[i]
                found = joint_objective(query, trial, ahead, scale[:0])
                if found >= value + ARMIJO * size * gain - ROUNDING * abs(value) or size < 1e-12:
                    break
                size *= 0.5
            n_stored = store_step(query, x, trial, grad, ahead, n_stored)
            value = found
            for i in range(n):
                x[i], grad[i] = trial[i], ahead[i]
        if abs(rescale(x, query.prior, query.hold)) < 1e-6:
            break
    return step


@over_queries
def scores_and_variances(
    first: cython.longlong, end: cython.longlong, slot_ptr: Int[::1], theta_ptr: Int[::1], list_ptr: Int[::1],
    entry_ptr: Int[::1], entry_slot: Int32[::1], value: Float[::1], beyond: Float[::1], weight: Float[::1],
    binary: cython.bint, last: cython.bint, theta: Float[::1], total: Float[::1], prior: cython.double,
    hold: cython.double, tol: cython.double, max_iter: cython.longlong, steps: cython.longlong[::1],
    out: cython.double[::1], gamma: cython.double[::1],
):  # fmt: skip
    """Scores and variances that maximise the penalised likelihood of each query, from ``out`` and γ = 1/2."""
    query: Query = Query(longest(first, end, slot_ptr), longest(first, end, theta_ptr))
    query.entry_ptr, query.entry_slot, query.value, query.beyond, query.weight = (
        entry_ptr, entry_slot, value, beyond, weight
    )  # fmt: skip
    query.binary, query.last = binary, last
    with cython.nogil:
        for q in range(first, end):
            lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
            whole: cython.double = 0
            for t in range(theta_ptr[q], theta_ptr[q + 1]):
                whole += total[t]
            for i in range(lo, lo + n):
                gamma[i] = 0.5
            if whole == 0:
                continue
            x: cython.double[::1] = query.vectors[0, : 2 * n]
            for i in range(n):
                x[i], x[n + i] = out[lo + i], LOG_HALF
            query.lo, query.first_list, query.last_list = lo, list_ptr[q], list_ptr[q + 1]
            query.prior, query.hold = prior * (whole / n), hold * (whole / n)
            query.theta, query.total = theta[theta_ptr[q] : theta_ptr[q + 1]], total[theta_ptr[q] : theta_ptr[q + 1]]
            steps[q] = maximise_jointly(query, x, tol, max_iter)
            for i in range(n):
                out[lo + i], gamma[lo + i] = x[i], exp(x[n + i])
