"""Products and equations of dense matrices, summed in the same order for any number of threads.

BLAS splits sums between its threads, so that the last digits depend on how many there are.
"""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries


@over_queries
def row_products(first, last, ptr, a, b, out):
    """out[i] = a[i] · b, for the rows of each block; ``out`` starts as zeros."""
    n, width = b.shape
    for i in range(ptr[first], ptr[last]):
        for k in range(0, n - n % 4, 4):
            x0, x1, x2, x3 = a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3]
            for j in range(width):  # innermost, so that it is vectorised
                out[i, j] += (x0 * b[k, j] + x1 * b[k + 1, j]) + (x2 * b[k + 2, j] + x3 * b[k + 3, j])
        for k in range(n - n % 4, n):
            for j in range(width):
                out[i, j] += a[i, k] * b[k, j]


@over_queries
def column_products(first, last, ptr, a, b, out):
    """out[c] += a[:, c] · b, for the columns c of each block."""
    n, width = b.shape
    for i in range(0, n - n % 4, 4):
        for c in range(ptr[first], ptr[last]):
            x0, x1, x2, x3 = a[i, c], a[i + 1, c], a[i + 2, c], a[i + 3, c]
            for j in range(width):
                out[c, j] += (x0 * b[i, j] + x1 * b[i + 1, j]) + (x2 * b[i + 2, j] + x3 * b[i + 3, j])
    for i in range(n - n % 4, n):
        for c in range(ptr[first], ptr[last]):
            for j in range(width):
                out[c, j] += a[i, c] * b[i, j]


@over_queries
def solve_each(first, last, ptr, a, b, singular):
    """b[q] becomes the solution of a[q] x = b[q], by elimination with pivots; ``a`` is overwritten."""
    for q in range(first, last):
        m, x = a[q], b[q]
        n = len(x)
        for k in range(n):
            best = k
            for i in range(k + 1, n):
                if abs(m[i, k]) > abs(m[best, k]):
                    best = i
            if not abs(m[best, k]) > 0.0:
                singular[q] = True
                break
            if best != k:
                for j in range(k, n):
                    m[k, j], m[best, j] = m[best, j], m[k, j]
                x[k], x[best] = x[best], x[k]
            for i in range(k + 1, n):
                share = m[i, k] / m[k, k]
                if share != 0.0:
                    for j in range(k + 1, n):
                        m[i, j] -= share * m[k, j]
                    x[i] -= share * x[k]
        if not singular[q]:
            for k in range(n - 1, -1, -1):
                for j in range(k + 1, n):
                    x[k] -= m[k, j] * x[j]
                x[k] /= m[k, k]


@kernel
def inverse_factor(a, noise, order, out):
    """Rows and columns order[:n] of the symmetric a are L Lᵀ: out[:n, :n] = L⁻¹; returns n, the numerical rank.

    Each step takes the largest remaining diagonal element as pivot; it stops if that is at most ``noise``.
    """
    size = len(a)
    left = np.diag(a).copy()
    factor = np.zeros((size, size))
    n = 0
    while n < size:
        best = n
        for i in range(n + 1, size):
            if left[order[i]] > left[order[best]]:
                best = i
        if not left[order[best]] > noise:
            break
        order[n], order[best] = order[best], order[n]
        pivot = np.sqrt(left[order[n]])
        row = factor[order[n]]
        for i in range(n + 1, size):
            total = a[order[i], order[n]]
            for k in range(n):
                total -= factor[order[i], k] * row[k]
            factor[order[i], n] = total / pivot
            left[order[i]] -= factor[order[i], n] ** 2
        row[n] = pivot
        n += 1
    for i in range(n):  # L⁻¹ row by row: forward substitution of unit vectors
        for k in range(i):
            share = factor[order[i], k]
            for j in range(k + 1):
                out[i, j] -= share * out[k, j]
        out[i, i] = 1.0
        for j in range(i + 1):
            out[i, j] /= factor[order[i], i]
    return n
