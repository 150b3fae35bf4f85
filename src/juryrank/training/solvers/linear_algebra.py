"""Products and equations of dense matrices whose last digits do not depend on the number of threads."""

from __future__ import annotations

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.dense import column_products, inverse_factor, row_products, solve_each

BLOCK = 32  # rows or columns that one thread does at once


def product(a: Floats, b: Floats) -> Floats:
    """``a @ b``; ``b`` may be a vector."""
    wide = np.ascontiguousarray(b[:, None] if b.ndim == 1 else b, np.float64)
    out = np.zeros((len(a), wide.shape[1]))
    row_products(_blocks(len(a)), np.ascontiguousarray(a, np.float64), wide, out)
    return out.reshape(len(a), *b.shape[1:])


def cross_product(a: Floats, b: Floats) -> Floats:
    """``a.T @ b``; ``b`` may be a vector."""
    wide = np.ascontiguousarray(b[:, None] if b.ndim == 1 else b, np.float64)
    out = np.zeros((a.shape[1], wide.shape[1]))
    column_products(_blocks(a.shape[1]), np.ascontiguousarray(a, np.float64), wide, out)
    return out.reshape(a.shape[1], *b.shape[1:])


def solve(a: Floats, b: Floats) -> Floats:
    """The solutions [..., n] of ``a x = b``, for one system or many; a LinAlgError where there is none."""
    n = b.shape[-1]
    matrices, x = np.array(a, np.float64).reshape(-1, n, n), np.array(b, np.float64).reshape(-1, n)
    singular = np.zeros(len(x), bool)
    solve_each(np.arange(len(x) + 1), matrices, x, singular)
    if singular.any():
        raise np.linalg.LinAlgError("Singular matrix")
    return x.reshape(b.shape)


def whitening_basis(kernel: Floats, noise: float) -> tuple[Ints, Floats]:
    """Which points span a kernel matrix up to ``noise``, and a basis of their columns in which it is the identity."""
    order, inverse = np.arange(len(kernel)), np.zeros_like(kernel)
    n = inverse_factor(np.ascontiguousarray(kernel), noise, order, inverse)
    return order[:n], np.ascontiguousarray(inverse[:n, :n].T)


def _blocks(size: int) -> Ints:
    return np.append(np.arange(0, size, BLOCK), size)
