"""Products and equations of dense matrices whose last digits do not depend on the number of threads."""

from __future__ import annotations

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.dense import independent_rows, row_products, solve_each

BLOCK = 32  # rows that one thread does at once
NARROW = 16  # columns of products of which so many rows stay in the processor's cache that longer blocks read faster


def product(a: Floats, b: Floats) -> Floats:
    """``a @ b``; ``b`` may be a vector."""
    wide = np.ascontiguousarray(b[:, None] if b.ndim == 1 else b, np.float64)
    out = np.zeros((len(a), wide.shape[1]))
    block = BLOCK if wide.shape[1] > NARROW else 2 * max(1, 256 // max(len(b), 1))  # of narrow ones, 4 KB of a
    row_products(_blocks(len(a), block), np.ascontiguousarray(a, np.float64), wide, False, out)
    return out.reshape(len(a), *b.shape[1:])


def cross_product(a: Floats, b: Floats) -> Floats:
    """``a.T @ b``; ``b`` may be a vector."""
    wide = np.ascontiguousarray(b[:, None] if b.ndim == 1 else b, np.float64)
    out = np.zeros((a.shape[1], wide.shape[1]))
    block = BLOCK if wide.shape[1] > NARROW else 8 * BLOCK
    row_products(_blocks(a.shape[1], block), np.ascontiguousarray(a, np.float64).T, wide, False, out)
    return out.reshape(a.shape[1], *b.shape[1:])


def gram_matrix(a: Floats) -> Floats:
    """``a.T @ a``, with half of the operations of ``cross_product`` and the same digits."""
    a = np.ascontiguousarray(a, np.float64)
    upper = np.zeros((a.shape[1], a.shape[1]))
    row_products(_blocks(a.shape[1], BLOCK), a.T, a, True, upper)
    out: Floats = np.triu(upper) + np.triu(upper, 1).T
    return out


def solve(a: Floats, b: Floats) -> Floats:
    """The solutions [..., n] of ``a x = b``, for one system or many; a LinAlgError where there is none."""
    n = b.shape[-1]
    matrices, x = np.array(a, np.float64).reshape(-1, n, n), np.array(b, np.float64).reshape(-1, n)
    singular = np.zeros(len(x), bool)
    solve_each(np.arange(len(x) + 1), matrices, x, singular)
    if singular.any():
        raise np.linalg.LinAlgError("Singular matrix")
    return x.reshape(b.shape)


def independent_points(kernel: Floats, noise: float) -> Ints:
    """Which points span a kernel matrix up to ``noise``."""
    order = np.arange(len(kernel))
    return order[: independent_rows(np.ascontiguousarray(kernel), noise, order)]


def _blocks(size: int, block: int) -> Ints:
    return np.append(np.arange(0, size, block), size)
