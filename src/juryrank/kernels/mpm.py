"""The multinomial preference model with equal variances: every gradient is a sum over items, never over pairs.

``theta_ptr[q]:theta_ptr[q+1]`` are the distinct adherences of a query and the counts drawn under each. For one
adherence θ the pairs of scores s sum to Z = Σ_{k≠l} exp(θ(s_k - s_l)) = (Σ exp θs)(Σ exp -θs) - M.
"""

import cython
import numpy as np
from cython.cimports.libc.math import exp, log

from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.dense import dot
    from juryrank.kernels.elements import Float, Int, Int32
    from juryrank.kernels.ragged import longest

ARMIJO = 1e-4
ROUNDING = 1e-14  # relative to the value: smaller changes are rounding
CG_STEPS = cython.declare(cython.longlong, 200)


@over_queries
def net_counts(
    first: cython.longlong, last: cython.longlong, list_ptr: Int[::1], entry_ptr: Int[::1], value: Float[::1],
    beyond: Float[::1], n_beyond: Int[::1], binary: cython.bint, entry_net: cython.double[::1],
    list_net: cython.double[::1], total: cython.double[::1],
):  # fmt: skip
    """Counts won minus counts lost of each entry and of an unranked item, and the total count of each list.

    Values rise along a list and smaller ones win, by their difference, or by 1 where ``binary``; ``n_beyond`` items lie
    at the value ``beyond``.
    """
    with cython.nogil:
        for m in range(list_ptr[first], list_ptr[last]):
            lo, n = entry_ptr[m], entry_ptr[m + 1] - entry_ptr[m]
            level: cython.double = 0
            for e in range(lo, lo + n):
                level += value[e]
            at: cython.longlong = 0
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


def log_normaliser(theta, s, t, up, down, cross):
    """log Z; up[t] and down[t] become each item's share in winning and losing; cross[t], Z divided by its factors."""
    n = s.shape[0]
    high, low = s[0], s[0]
    for i in range(n):
        high, low = max(high, s[i]), min(low, s[i])
    reach = theta * (high - low)
    a: cython.double = 0
    b: cython.double = 0
    for i in range(n):
        up[t, i], down[t, i] = theta * (s[i] - high), theta * (low - s[i])
    for i in range(n):
        up[t, i], down[t, i] = exp(up[t, i]), exp(down[t, i])
        a += up[t, i]
        b += down[t, i]
    z = a * b - n * exp(-reach)
    for i in range(n):
        up[t, i] *= b / z
        down[t, i] *= a / z
    cross[t] = z / (a * b)
    return reach + log(z)


def objective(s, pull, theta, total, prior, up, down, cross, grad):
    """The penalised log-likelihood of one query: pull·s - Σ T log Z(θ) - prior/2 |s|², and its gradient."""
    value = 0.0
    for i in range(s.shape[0]):
        value += pull[i] * s[i] - 0.5 * prior * s[i] * s[i]
        grad[i] = pull[i] - prior * s[i]
    for t in range(theta.shape[0]):
        value -= total[t] * log_normaliser(theta[t], s, t, up, down, cross)
        c = total[t] * theta[t]
        for i in range(s.shape[0]):
            grad[i] -= c * (up[t, i] - down[t, i])
    return value


def curvature_times(v, theta, total, prior, up, down, cross, out):
    """Minus the Hessian of the objective, times v."""
    n = v.shape[0]
    for i in range(n):
        out[i] = prior * v[i]
    for t in range(theta.shape[0]):
        won: cython.double = 0
        lost: cython.double = 0
        for i in range(n):
            won += up[t, i] * v[i]
            lost += down[t, i] * v[i]
        c, both = total[t] * theta[t] * theta[t], cross[t]
        for i in range(n):
            u, d = up[t, i], down[t, i]
            out[i] += c * ((u + d) * v[i] - both * (u * lost + d * won) - (u - d) * (won - lost))


def diagonal(theta, total, prior, up, down, cross, out):
    """The diagonal of the curvature."""
    for i in range(out.shape[0]):
        out[i] = prior
        for t in range(theta.shape[0]):
            u, d = up[t, i], down[t, i]
            out[i] += total[t] * (theta[t] * theta[t]) * (u + d - 2.0 * cross[t] * u * d - (u - d) * (u - d))


def newton_direction(theta, total, prior, up, down, cross, grad, p, spare):
    """Solve curvature · p = grad by conjugate gradients with the diagonal as preconditioner; returns grad·p."""
    n = grad.shape[0]
    scale, left, way, product = spare[0, :n], spare[1, :n], spare[2, :n], spare[3, :n]
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
        before = size
        size = 0.0
        for i in range(n):
            p[i] += step * way[i]
            left[i] -= step * product[i]
            size += left[i] * left[i] / scale[i]
        for i in range(n):
            way[i] = left[i] / scale[i] + size / before * way[i]
    return dot(grad, p)


def maximise(s, pull, theta, total, prior, tol, max_iter, up, down, cross, spare):
    """Newton steps from s to the maximum; their number, or ``max_iter + 1`` if they did not converge."""
    n, whole = s.shape[0], 0.0
    for t in range(theta.shape[0]):
        whole += total[t]
    grad, p, trial = spare[4, :n], spare[5, :n], spare[6, :n]
    value = objective(s, pull, theta, total, prior, up, down, cross, grad)
    for step in range(1, max_iter + 1):
        gain = newton_direction(theta, total, prior, up, down, cross, grad, p, spare)
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
def scores(
    first: cython.longlong, last: cython.longlong, slot_ptr: Int[::1], theta_ptr: Int[::1], theta: Float[::1],
    total: Float[::1], pull: Float[::1], prior: cython.double, tol: cython.double, max_iter: cython.longlong,
    steps: cython.longlong[::1], out: cython.double[::1],
):  # fmt: skip
    """The scores of maximum penalised likelihood of each query, starting from ``out``."""
    most, k = longest(first, last, slot_ptr), longest(first, last, theta_ptr)
    up: cython.double[:, ::1] = np.empty((k, most))
    down: cython.double[:, ::1] = np.empty((k, most))
    cross: cython.double[::1] = np.empty(k)
    spare: cython.double[:, ::1] = np.empty((7, most))
    with cython.nogil:
        for q in range(first, last):
            lo, hi = slot_ptr[q], slot_ptr[q + 1]
            t, end = theta_ptr[q], theta_ptr[q + 1]
            whole: cython.double = 0
            for at in range(t, end):
                whole += total[at]
            if whole > 0:
                each = whole / (hi - lo)
                steps[q] = maximise(
                    out[lo:hi], pull[lo:hi], theta[t:end], total[t:end], prior * each, tol, max_iter,
                    up, down, cross, spare,
                )  # fmt: skip


@over_queries
def log_normalisers(
    first: cython.longlong, last: cython.longlong, slot_ptr: Int[::1], theta_ptr: Int[::1], theta: Float[::1],
    s: Float[::1], value: cython.double[::1], slope: cython.double[::1],
):  # fmt: skip
    """log Z of each adherence of each query, and its derivative by the adherence."""
    most = longest(first, last, slot_ptr)
    up: cython.double[:, ::1] = np.empty((1, most))
    down: cython.double[:, ::1] = np.empty((1, most))
    cross: cython.double[::1] = np.empty(1)
    with cython.nogil:
        for q in range(first, last):
            lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
            if n < 2:
                continue
            for t in range(theta_ptr[q], theta_ptr[q + 1]):
                value[t] = log_normaliser(theta[t], s[lo : lo + n], 0, up, down, cross)
                won: cython.double = 0
                lost: cython.double = 0
                for i in range(n):
                    won += up[0, i] * s[lo + i]
                    lost += down[0, i] * s[lo + i]
                slope[t] = won - lost


@over_queries
def agreements(
    first: cython.longlong, last: cython.longlong, list_ptr: Int[::1], entry_ptr: Int[::1], entry_slot: Int32[::1],
    entry_rank: Float[::1], truth: Float[::1], concordant: cython.double[::1], comparable: cython.double[::1],
):  # fmt: skip
    """For each list, the pairs that the truth (higher is better, NaN unknown) orders, and those in the same order."""
    with cython.nogil:
        for m in range(list_ptr[first], list_ptr[last]):
            for e in range(entry_ptr[m], entry_ptr[m + 1]):
                for f in range(e + 1, entry_ptr[m + 1]):
                    better = truth[entry_slot[e]] - truth[entry_slot[f]]
                    if entry_rank[e] < entry_rank[f] and abs(better) > 0:  # NaN > 0 is False
                        comparable[m] += 1
                        concordant[m] += better > 0
