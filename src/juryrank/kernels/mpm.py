"""The multinomial preference model with equal variances: every gradient is a sum over items, never over pairs.

``theta_ptr[q]:theta_ptr[q+1]`` are the distinct adherences of a query and the counts drawn under each. For one
adherence θ the pairs of scores s sum to Z = Σ_{k≠l} exp(θ(s_k - s_l)) = (Σ exp θs)(Σ exp -θs) - M.
"""

import numpy as np

from juryrank.kernels.dense import dot
from juryrank.kernels.jit import kernel, over_queries

ARMIJO = 1e-4
ROUNDING = 1e-14  # relative to the value: smaller changes are rounding
CG_STEPS = 200


@over_queries
def net_counts(first, last, list_ptr, entry_ptr, value, beyond, n_beyond, binary, entry_net, list_net, total):
    """Counts won minus counts lost of each entry and of an unranked item, and the total count of each list.

    Values rise along a list and smaller ones win, by their difference, or by 1 where ``binary``; ``n_beyond`` items lie
    at the value ``beyond``.
    """
    for m in range(list_ptr[first], list_ptr[last]):
        lo, n = entry_ptr[m], entry_ptr[m + 1] - entry_ptr[m]
        level, at = 0.0, 0
        for e in range(lo, lo + n):
            level += value[e]
        while at < n:
            end = at + 1
            while end < n and value[lo + end] == value[lo + at]:
                end += 1
            for t in range(at, end):
                if binary:
                    entry_net[lo + t] = n - end - at + n_beyond[m]
                    total[m] += n - end + n_beyond[m]
                    list_net[m] -= 1.0
                else:
                    v = value[lo + t]
                    entry_net[lo + t] = level - n * v + n_beyond[m] * (beyond[m] - v)
                    total[m] += v * (2 * t - n + 1) + n_beyond[m] * (beyond[m] - v)
                    list_net[m] -= beyond[m] - v
            at = end
        if n_beyond[m] == 0:
            list_net[m] = 0.0


@kernel
def log_normaliser(theta, s, up, down):
    """log Z; ``up`` and ``down`` become each item's share in winning and losing; also Z divided by its factors."""
    high, low = s[0], s[0]
    for i in range(len(s)):
        high, low = max(high, s[i]), min(low, s[i])
    a, b = 0.0, 0.0
    for i in range(len(s)):
        up[i] = np.exp(theta * (s[i] - high))
        down[i] = np.exp(theta * (low - s[i]))
        a += up[i]
        b += down[i]
    reach = theta * (high - low)
    z = a * b - len(s) * np.exp(-reach)
    for i in range(len(s)):
        up[i] *= b / z
        down[i] *= a / z
    return reach + np.log(z), z / (a * b)


@kernel
def objective(s, pull, theta, total, prior, up, down, cross, grad):
    """The penalised log-likelihood of one query: pull·s - Σ T log Z(θ) - prior/2 |s|², and its gradient."""
    value = 0.0
    for i in range(len(s)):
        value += pull[i] * s[i] - 0.5 * prior * s[i] * s[i]
        grad[i] = pull[i] - prior * s[i]
    for t in range(len(theta)):
        log_z, cross[t] = log_normaliser(theta[t], s, up[t], down[t])
        value -= total[t] * log_z
        for i in range(len(s)):
            grad[i] -= total[t] * theta[t] * (up[t, i] - down[t, i])
    return value


@kernel
def curvature_times(v, theta, total, prior, up, down, cross, out):
    """Minus the Hessian of the objective, times v."""
    for i in range(len(v)):
        out[i] = prior * v[i]
    for t in range(len(theta)):
        won, lost = 0.0, 0.0
        for i in range(len(v)):
            won += up[t, i] * v[i]
            lost += down[t, i] * v[i]
        c = total[t] * theta[t] * theta[t]
        for i in range(len(v)):
            u, d = up[t, i], down[t, i]
            out[i] += c * ((u + d) * v[i] - cross[t] * (u * lost + d * won) - (u - d) * (won - lost))


@kernel
def diagonal(theta, total, prior, up, down, cross, out):
    """The diagonal of the curvature."""
    for i in range(len(out)):
        out[i] = prior
        for t in range(len(theta)):
            u, d = up[t, i], down[t, i]
            out[i] += total[t] * theta[t] ** 2 * (u + d - 2.0 * cross[t] * u * d - (u - d) ** 2)


@kernel
def newton_direction(theta, total, prior, up, down, cross, grad, p):
    """Solve curvature · p = grad by conjugate gradients with the diagonal as preconditioner; returns grad·p."""
    n = len(grad)
    scale, left, way, product = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    diagonal(theta, total, prior, up, down, cross, scale)
    size = 0.0
    for i in range(n):
        p[i] = 0.0
        left[i] = grad[i]
        way[i] = grad[i] / scale[i]
        size += left[i] * way[i]
    enough = 1e-14 * size
    for _ in range(CG_STEPS):
        if size <= enough or size == 0.0:
            break
        curvature_times(way, theta, total, prior, up, down, cross, product)
        step = size / dot(way, product)
        before, size = size, 0.0
        for i in range(n):
            p[i] += step * way[i]
            left[i] -= step * product[i]
            size += left[i] * left[i] / scale[i]
        for i in range(n):
            way[i] = left[i] / scale[i] + size / before * way[i]
    return dot(grad, p)


@kernel
def maximise(s, pull, theta, total, prior, tol, max_iter):
    """Newton steps from s to the maximum; their number, or ``max_iter + 1`` if they did not converge."""
    n, whole = len(s), 0.0
    for t in range(len(theta)):
        whole += total[t]
    up, down, cross = np.empty((len(theta), n)), np.empty((len(theta), n)), np.empty(len(theta))
    grad, p, trial = np.empty(n), np.empty(n), np.empty(n)
    value = objective(s, pull, theta, total, prior, up, down, cross, grad)
    for step in range(1, max_iter + 1):
        gain = newton_direction(theta, total, prior, up, down, cross, grad, p)
        size = 1.0
        while True:
            for i in range(n):
                trial[i] = s[i] + size * p[i]
            found = objective(trial, pull, theta, total, prior, up, down, cross, grad)
            if found >= value + ARMIJO * size * gain - ROUNDING * abs(value) or size < 1e-12:
                break
            size *= 0.5
        for i in range(n):
            s[i] = trial[i]
        value = found
        if gain <= tol * whole:
            return step
    return max_iter + 1


@over_queries
def scores(first, last, slot_ptr, theta_ptr, theta, total, pull, prior, tol, max_iter, steps, out):
    """The scores of maximum penalised likelihood of each query, starting from ``out``."""
    for q in range(first, last):
        lo, hi = slot_ptr[q], slot_ptr[q + 1]
        t, end = theta_ptr[q], theta_ptr[q + 1]
        whole = 0.0
        for at in range(t, end):
            whole += total[at]
        if whole > 0:
            each = whole / (hi - lo)
            steps[q] = maximise(out[lo:hi], pull[lo:hi], theta[t:end], total[t:end], prior * each, tol, max_iter)


@over_queries
def log_normalisers(first, last, slot_ptr, theta_ptr, theta, s, value, slope):
    """log Z of each adherence of each query, and its derivative by the adherence."""
    for q in range(first, last):
        lo, hi = slot_ptr[q], slot_ptr[q + 1]
        if hi - lo < 2:
            continue
        up, down = np.empty(hi - lo), np.empty(hi - lo)
        for t in range(theta_ptr[q], theta_ptr[q + 1]):
            value[t], _ = log_normaliser(theta[t], s[lo:hi], up, down)
            slope[t] = dot(up, s[lo:hi]) - dot(down, s[lo:hi])


@over_queries
def agreements(first, last, list_ptr, entry_ptr, entry_slot, entry_rank, truth, concordant, comparable):
    """For each list, the pairs that the truth (higher is better, NaN unknown) orders, and those in the same order."""
    for m in range(list_ptr[first], list_ptr[last]):
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            for f in range(e + 1, entry_ptr[m + 1]):
                better = truth[entry_slot[e]] - truth[entry_slot[f]]
                if entry_rank[e] < entry_rank[f] and abs(better) > 0:  # NaN > 0 is False
                    comparable[m] += 1
                    concordant[m] += better > 0
