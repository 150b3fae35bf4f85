"""Products and equations of dense matrices, and features that are multiplied: position curves, Gaussian kernels, trees.

BLAS splits sums between its threads, so that the last digits depend on how many there are; here their order is fixed.
"""

import cython
import numpy as np
from cython.cimports.libc.math import exp, sqrt

from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.elements import Byte, Float, Int, Int32
    from juryrank.kernels.ragged import longest

# columns at a time, so that those of a block of 32 rows stay in the processor's first cache
TILE = cython.declare(cython.longlong, 64)


def dot(x, y):
    """Σ x[i] y[i]."""
    return dot_first(x.shape[0], x, y)


def dot_first(n, x, y):
    """Σ x[i] y[i] of the first n."""
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


@over_queries
def row_products(
    first: cython.longlong, last: cython.longlong, ptr: Int[::1], a: Float[:, :], b: Float[:, ::1],
    upper: cython.bint, out: cython.double[:, ::1],
):  # fmt: skip
    """out[i] += a[i] · b, for the rows i of each block; with ``upper`` what is left of the diagonal may be left out."""
    with cython.nogil:
        for block in range(first, last):
            add_products(a, b, ptr[block], ptr[block + 1], upper, out)


def add_products(a, b, first, last, upper, out):
    """``row_products`` of the rows first:last: four terms at a time, and two rows at once."""
    n, width = b.shape[0], b.shape[1]
    begin = first if upper else 0
    while begin < width:
        end = min(begin + TILE, width)
        for k in range(0, n - n % 4, 4):
            for i in range(first, last - 1, 2):
                x0, x1, x2, x3 = a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3]
                y0, y1, y2, y3 = a[i + 1, k], a[i + 1, k + 1], a[i + 1, k + 2], a[i + 1, k + 3]
                for j in range(max(begin, i) if upper else begin, end):  # innermost, so that it is vectorised
                    b0, b1, b2, b3 = b[k, j], b[k + 1, j], b[k + 2, j], b[k + 3, j]
                    out[i, j] += (x0 * b0 + x1 * b1) + (x2 * b2 + x3 * b3)
                    out[i + 1, j] += (y0 * b0 + y1 * b1) + (y2 * b2 + y3 * b3)
            if (last - first) % 2 == 1:
                i = last - 1
                x0, x1, x2, x3 = a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3]
                for j in range(max(begin, i) if upper else begin, end):
                    out[i, j] += (x0 * b[k, j] + x1 * b[k + 1, j]) + (x2 * b[k + 2, j] + x3 * b[k + 3, j])
        for k in range(n - n % 4, n):
            for i in range(first, last):
                x0 = a[i, k]
                for j in range(max(begin, i) if upper else begin, end):
                    out[i, j] += x0 * b[k, j]
        begin = end


@over_queries
def solve_each(
    first: cython.longlong,
    last: cython.longlong,
    ptr: Int[::1],
    a: cython.double[:, :, ::1],
    b: cython.double[:, ::1],
    singular: cython.uchar[::1],
):
    """b[q] becomes the solution of a[q] x = b[q], by elimination with pivots; ``a`` is overwritten."""
    n = b.shape[1]
    with cython.nogil:
        for q in range(first, last):
            for k in range(n):
                best = k
                for i in range(k + 1, n):
                    if abs(a[q, i, k]) > abs(a[q, best, k]):
                        best = i
                if not abs(a[q, best, k]) > 0.0:
                    singular[q] = True
                    break
                if best != k:
                    for j in range(k, n):
                        a[q, k, j], a[q, best, j] = a[q, best, j], a[q, k, j]
                    b[q, k], b[q, best] = b[q, best], b[q, k]
                for i in range(k + 1, n):
                    share = a[q, i, k] / a[q, k, k]
                    if share != 0.0:
                        for j in range(k + 1, n):
                            a[q, i, j] -= share * a[q, k, j]
                        b[q, i] -= share * b[q, k]
            if not singular[q]:
                for k in range(n - 1, -1, -1):
                    for j in range(k + 1, n):
                        b[q, k] -= a[q, k, j] * b[q, j]
                    b[q, k] /= a[q, k, k]


def independent_rows(a: Float[:, ::1], noise: cython.double, order: cython.longlong[::1]):
    """Rows and columns order[:n] of the symmetric a span it up to ``noise``; returns n, its numerical rank.

    Each step of a Cholesky factorisation takes the largest remaining diagonal element as pivot; it stops if that is at
    most ``noise``.
    """
    size = a.shape[0]
    left: cython.double[::1] = np.empty(size)
    factor: cython.double[:, ::1] = np.zeros((size, size))  # by column, so that the innermost loop is vectorised
    n: cython.longlong = 0
    with cython.nogil:
        for i in range(size):
            left[i] = a[i, i]
        while n < size:
            best = n
            for i in range(n + 1, size):
                if left[order[i]] > left[order[best]]:
                    best = i
            if not left[order[best]] > noise:
                break
            row = order[best]
            order[n], order[best] = row, order[n]
            pivot = sqrt(left[row])
            for i in range(size):
                factor[n, i] = a[row, i]
            for k in range(0, n - n % 4, 4):
                s0, s1, s2, s3 = factor[k, row], factor[k + 1, row], factor[k + 2, row], factor[k + 3, row]
                for i in range(size):
                    rest = factor[n, i] - s0 * factor[k, i] - s1 * factor[k + 1, i]
                    factor[n, i] = rest - s2 * factor[k + 2, i] - s3 * factor[k + 3, i]
            for k in range(n - n % 4, n):
                s0 = factor[k, row]
                for i in range(size):
                    factor[n, i] -= s0 * factor[k, i]
            for i in range(size):
                factor[n, i] /= pivot
                left[i] -= factor[n, i] * factor[n, i]
            n += 1
    return n


@over_queries
def centre_features(
    first: cython.longlong, last: cython.longlong, slot_ptr: Int[::1], row_ptr: Int[::1], list_ptr: Int[::1],
    entry_ptr: Int[::1], entry_slot: Int32[::1], entry_points: Float[:, ::1], list_column: Int[::1],
    slot_weight: Float[::1], slot_gain: Float[::1], out: cython.double[:, ::1],
):  # fmt: skip
    """Rows √ω (z − z̄) / v^¼ of the slots with weight ω > 0; v = Σ ω (y − ȳ)², which must not be 0.

    z has the points of each column, summed over the lists of that column, and the gain y in the last place. ``out``
    must be zeros; ``row_ptr`` are the offsets of the slots with a weight.
    """
    n_curves, width = entry_points.shape[1], out.shape[1]
    most = longest(first, last, slot_ptr)
    row: cython.longlong[::1] = np.empty(most, np.int64)
    weight: cython.double[::1] = np.empty(most)
    mean: cython.double[::1] = np.empty(width)
    with cython.nogil:
        for q in range(first, last):
            lo, n = slot_ptr[q], row_ptr[q]
            begin = n
            for s in range(lo, slot_ptr[q + 1]):
                row[s - lo] = -1
                if slot_weight[s] > 0.0:
                    row[s - lo], weight[n - begin], out[n, width - 1] = n, slot_weight[s], slot_gain[s]
                    n += 1
            for m in range(list_ptr[q], list_ptr[q + 1]):
                column = list_column[m] * n_curves
                for e in range(entry_ptr[m], entry_ptr[m + 1]):
                    i = row[entry_slot[e] - lo]
                    if i >= 0:
                        for k in range(n_curves):
                            out[i, column + k] += entry_points[e, k]
            if n > begin:
                centre(begin, n, weight, mean, out)


def centre(begin, end, weight, mean, out):
    """Rows begin:end less their weighted mean, and times √ω / v^¼ (see ``centre_features``)."""
    width = out.shape[1]
    for k in range(width):
        mean[k] = 0.0
    total: cython.double = 0
    for i in range(begin, end):
        total += weight[i - begin]
        for k in range(width):
            mean[k] += weight[i - begin] * out[i, k]
    for k in range(width):
        mean[k] /= total
    spread: cython.double = 0
    for i in range(begin, end):
        gain = out[i, width - 1] - mean[width - 1]
        spread += weight[i - begin] * (gain * gain)
    for i in range(begin, end):
        factor = sqrt(weight[i - begin] / sqrt(spread))
        for k in range(width):
            out[i, k] = (out[i, k] - mean[k]) * factor


@over_queries
def gram_products(
    first: cython.longlong, last: cython.longlong, ptr: Int[::1], z: Float[:, ::1], out: cython.double[:, :, ::1]
):
    """zᵀz of the rows of each part."""
    width = z.shape[1]
    with cython.nogil:
        for p in range(first, last):
            for a in range(width):
                for b in range(width):
                    out[p, a, b] = 0.0
            for i in range(ptr[p], ptr[p + 1]):
                for a in range(width):
                    x = z[i, a]
                    for b in range(a, width):
                        out[p, a, b] += x * z[i, b]
            for a in range(width):
                for b in range(a + 1, width):
                    out[p, b, a] = out[p, a, b]


@over_queries
def rbf_scores(
    first: cython.longlong, last: cython.longlong, slot_ptr: Int[::1], x: Float[:, ::1], landmarks: Float[:, ::1],
    coefficient: Float[::1], linear: Float[::1], sharpness: cython.double, out: cython.double[::1],
):  # fmt: skip
    """out[s] = x · linear + sum over landmarks z of coefficient × exp(-sharpness × |x - z|²); landmarks are columns."""
    n_columns, n_landmarks = landmarks.shape[0], landmarks.shape[1]
    distance: cython.double[:, ::1] = np.empty((2, n_landmarks))
    with cython.nogil:
        for s in range(slot_ptr[first], slot_ptr[last], 2):
            end = min(s + 2, slot_ptr[last])
            squared_distances(x, s, end - 1, landmarks, distance)
            for i in range(s, end):
                total: cython.double = 0
                for f in range(n_columns):
                    total += x[i, f] * linear[f]
                for z in range(n_landmarks):
                    total += coefficient[z] * exp(-sharpness * distance[i - s, z])
                out[i] = total


def squared_distances(x, s, t, landmarks, out):
    """out[0] = |x[s] - z|² of each landmark z, and out[1] that of x[t]."""
    n, n_landmarks = landmarks.shape[0], landmarks.shape[1]
    for z in range(n_landmarks):
        out[0, z] = out[1, z] = 0.0
    for f in range(0, n - n % 4, 4):
        x0, x1, x2, x3 = x[s, f], x[s, f + 1], x[s, f + 2], x[s, f + 3]
        y0, y1, y2, y3 = x[t, f], x[t, f + 1], x[t, f + 2], x[t, f + 3]
        for z in range(n_landmarks):  # innermost, so that it is vectorised
            l0, l1, l2, l3 = landmarks[f, z], landmarks[f + 1, z], landmarks[f + 2, z], landmarks[f + 3, z]
            total = out[0, z] + (x0 - l0) * (x0 - l0) + (x1 - l1) * (x1 - l1)
            out[0, z] = total + (x2 - l2) * (x2 - l2) + (x3 - l3) * (x3 - l3)
            total = out[1, z] + (y0 - l0) * (y0 - l0) + (y1 - l1) * (y1 - l1)
            out[1, z] = total + (y2 - l2) * (y2 - l2) + (y3 - l3) * (y3 - l3)
    for f in range(n - n % 4, n):
        x0, y0 = x[s, f], x[t, f]
        for z in range(n_landmarks):
            out[0, z] += (x0 - landmarks[f, z]) * (x0 - landmarks[f, z])
            out[1, z] += (y0 - landmarks[f, z]) * (y0 - landmarks[f, z])


@over_queries
def rbf_features(
    first: cython.longlong, last: cython.longlong, row_ptr: Int[::1], x: Float[:, ::1], landmarks: Float[:, ::1],
    sharpness: cython.double, linear: cython.double, weight: Float[::1], scale: Float[::1],
    out: cython.double[:, ::1],
):  # fmt: skip
    """Rows [exp(-sharpness × |x - z|²) for each landmark z, linear × x], centred in each query; landmarks are columns.

    The mean of a query is by ``weight``, and a row is multiplied by √(weight × scale of the query).
    """
    n_columns, n_landmarks = landmarks.shape[0], landmarks.shape[1]
    width = n_columns + n_landmarks
    mean: cython.double[::1] = np.empty(width)
    distance: cython.double[:, ::1] = np.empty((2, n_landmarks))
    with cython.nogil:
        for q in range(first, last):
            weights: cython.double = 0
            for k in range(width):
                mean[k] = 0.0
            for s in range(row_ptr[q], row_ptr[q + 1], 2):
                end = min(s + 2, row_ptr[q + 1])
                squared_distances(x, s, end - 1, landmarks, distance)
                for i in range(s, end):
                    weights += weight[i]
                    for z in range(n_landmarks):
                        out[i, z] = exp(-sharpness * distance[i - s, z])
                    for f in range(n_columns):
                        out[i, n_landmarks + f] = linear * x[i, f]
                    for k in range(width):
                        mean[k] += weight[i] * out[i, k]
            for k in range(width):
                mean[k] /= weights
            for i in range(row_ptr[q], row_ptr[q + 1]):
                factor = sqrt(weight[i] * scale[q])
                for k in range(width):
                    out[i, k] = (out[i, k] - mean[k]) * factor


@over_queries
def tree_scores(
    first: cython.longlong, last: cython.longlong, slot_ptr: Int[::1], x: Float[:, ::1], root: Int[::1],
    feature: Int[::1], threshold: Float[::1], left: Int[::1], right: Int[::1], missing_left: Byte[::1],
    value: Float[::1], out: cython.double[::1],
):  # fmt: skip
    """out[s] += the sum of the leaf values of x[s]; x <= threshold goes left, and a leaf has no left child."""
    with cython.nogil:
        for s in range(slot_ptr[first], slot_ptr[last]):
            total: cython.double = 0
            for t in range(root.shape[0]):
                node = root[t]
                while left[node] >= 0:
                    known = x[s, feature[node]]
                    goes_left: cython.bint = missing_left[node] if known != known else known <= threshold[node]
                    node = left[node] if goes_left else right[node]
                total += value[node]
            out[s] += total
