"""Products and equations of dense matrices, summed in the same order for any number of threads.

BLAS splits sums between its threads, so that the last digits depend on how many there are.
"""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries

TILE = 128  # columns at a time, so that those of a block of 32 rows stay in the processor's first cache


@kernel
def dot(x, y):
    """Σ x[i] y[i]; a loop, because array expressions take Numba ten times as long to compile."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


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
def gram_columns(first, last, ptr, a, out):
    """out[c, j] += a[:, c] · a[:, j], for the columns c of each block and all j from its first column on."""
    n, width = a.shape
    for block in range(first, last):
        for lo in range(ptr[block], width, TILE):
            hi = min(lo + TILE, width)
            for i in range(0, n - n % 4, 4):
                a0, a1, a2, a3 = a[i, lo:hi], a[i + 1, lo:hi], a[i + 2, lo:hi], a[i + 3, lo:hi]
                for c in range(ptr[block], ptr[block + 1]):
                    x0, x1, x2, x3, row = a[i, c], a[i + 1, c], a[i + 2, c], a[i + 3, c], out[c, lo:hi]
                    for j in range(hi - lo):
                        row[j] += (x0 * a0[j] + x1 * a1[j]) + (x2 * a2[j] + x3 * a3[j])
            for i in range(n - n % 4, n):
                for c in range(ptr[block], ptr[block + 1]):
                    for j in range(lo, hi):
                        out[c, j] += a[i, c] * a[i, j]


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
def independent_rows(a, noise, order):
    """Rows and columns order[:n] of the symmetric a span it up to ``noise``; returns n, its numerical rank.

    Each step of a Cholesky factorisation takes the largest remaining diagonal element as pivot; it stops if that is at
    most ``noise``.
    """
    size = len(a)
    left, factor = np.empty(size), np.zeros((size, size))  # by column, so that the innermost loop is vectorised
    for i in range(size):
        left[i] = a[i, i]
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
        column = factor[n]
        for i in range(size):
            column[i] = a[order[n], i]
        for k in range(n):
            share = factor[k, order[n]]
            for i in range(size):
                column[i] -= share * factor[k, i]
        for i in range(size):
            column[i] /= pivot
            left[i] -= column[i] ** 2
        n += 1
    return n
