"""Gram matrices of position curves: their blocks, and the solution of penalised normal equations, many at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats
from juryrank.learning.linear_algebra import solve

CONSTANT = 1e-12  # a curve whose variance is a smaller share of the others' is constant up to rounding


class NormalEquations:
    """``A w = b`` for batches of Gram matrices; ``A`` is [batch, column, curve, column, curve] and may be added to.

    ``copies`` [batch, column] counts the experts that share a column: 0 where a column is absent from the data.
    """

    def __init__(self, gram: Floats, n_queries: Floats, copies: Floats) -> None:
        batch, n_columns = copies.shape
        n_curves = (gram.shape[-1] - 1) // max(n_columns, 1)
        n = np.maximum(n_queries, 1.0)[:, None]
        self.copies, self.n_curves = copies, n_curves
        self.A = gram[:, :-1, :-1].reshape(batch, n_columns, n_curves, n_columns, n_curves).copy()
        self.b = gram[:, :-1, -1].reshape(batch, n_columns, n_curves).copy()
        self.gain_spread = gram[:, -1, -1] / n[:, 0]
        present, total = copies > 0, np.maximum(copies.sum(axis=1), 1.0)[:, None]
        own = np.where((copies == 1).any(axis=1, keepdims=True), copies == 1, present)
        squares = np.einsum("qcjcj->qcj", self.A) / np.where(present, copies, 1.0)[:, :, None] ** 2
        self.typical = (squares * own[:, :, None]).sum(axis=1) / np.maximum(own.sum(axis=1), 1)[:, None] / n
        together = self.A.sum(axis=1).sum(axis=2)  # one axis after the other: four times as fast as both at once
        # Where experts cancel each other exactly, their sum is constant, and a penalty of 0 would not regularise it.
        self.common = np.maximum(np.einsum("qjj->qj", together) / total**2 / n, 1e-6 * self.typical / total)
        self.varies = self.typical > CONSTANT * self.typical.max(axis=1, initial=0.0)[:, None]

    def solve(self, penalty: list[Floats], pull: Floats) -> Floats:
        """Weights [batch, column, curve], with ``penalty[j]`` [batch, column, column] on curve j, ``pull`` added to b.

        Columns that are absent and curves that are constant get 0.
        """
        flat, scale, idle = self._penalised(penalty)
        b = np.where(idle, 0.0, self.b + pull)
        solution = solve(flat, b.reshape(scale.shape) * scale) * scale
        return np.where(idle, 0.0, solution.reshape(b.shape))

    def covariance(self, penalty: list[Floats]) -> Floats:
        """The covariance of the weights [batch, size, size] for noise of variance 1; 0 where ``solve`` gives 0."""
        flat, scale, idle = self._penalised(penalty)
        known = np.where(idle.reshape(scale.shape), 0.0, scale)
        return np.asarray(np.linalg.inv(flat), np.float64) * known[:, :, None] * known[:, None, :]

    def _penalised(self, penalty: list[Floats]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """The matrix with penalties and a unit diagonal, the factors that made it so, and the weights that are 0."""
        A = self.A.copy()
        idle = ~(self.varies[:, None, :] & (self.copies > 0)[:, :, None])
        for j, added in enumerate(penalty):
            A[:, :, j, :, j] += added
        np.einsum("qcjcj->qcj", A)[idle] += 1.0
        batch, size = len(A), self.copies.shape[1] * self.n_curves
        flat = A.reshape(batch, size, size)
        scale = 1.0 / np.sqrt(np.einsum("qii->qi", flat))  # curves differ in size
        flat *= scale[:, :, None]
        flat *= scale[:, None, :]
        return flat, scale, idle
