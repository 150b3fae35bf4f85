"""LambdaRank over sparse rows, linear or with hidden layers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.lambdarank import lambda_epoch, net_scores
from juryrank.learning.target import Target
from juryrank.methods.learned.sparse_rows import SparseRows

SMALL = 1e-3  # spread of the first linear weights: enough to separate items that differ


@dataclass(frozen=True, kw_only=True)
class LambdaRankLearner:
    """A neural network, trained by gradient steps on a pairwise loss after every ``batch`` queries.

    The weights are one flat array, layer by layer; without hidden layers they are [n_columns × width].
    """

    hidden: tuple[int, ...] = ()
    activation: str = "tanh"
    rate: float = 0.01
    decay: float = 0.003
    batch: int = 1

    @property
    def fan(self) -> int:
        """The number of units connected to each value of a row."""
        return self.hidden[0] if self.hidden else 1

    def start(self, rows: SparseRows, rng: np.random.Generator) -> Floats:
        """Normal weights: small for a linear model; with hidden layers, scaled so that activations keep their size."""
        sizes = self._sizes(rows)
        if not self.hidden:
            return rng.normal(0.0, SMALL, int(sizes[0]))
        spread = [1.0 / np.sqrt(max(1.0, rows.n_rows * rows.width / max(1, len(rows.row_ptr) - 1)))]
        spread += [1.0 / np.sqrt(n) for n in self.hidden]
        layers = [(rng.normal(0.0, s, a * b), np.zeros(b)) for s, (a, b) in zip(spread, pairwise(sizes), strict=True)]
        return np.concatenate([part for layer in layers for part in layer][:-1])

    def epoch(self, rows: SparseRows, target: Target, rng: np.random.Generator, weights: Floats) -> None:
        """One pass over the queries in random order, which updates ``weights``."""
        order = rng.permutation(len(target.slot_ptr) - 1)
        lambda_epoch(
            order, target.slot_ptr, rows.row_ptr, rows.column, rows.value, self._sizes(rows), self.activation == "relu",
            target.label, target.gain, target.kind, target.cutoff, target.discount, target.normaliser, float(self.rate),
            float(self.decay), int(self.batch), weights,
        )  # fmt: skip

    def scores(self, rows: SparseRows, slot_ptr: Ints, weights: Floats) -> Floats:
        """One score per slot."""
        out = np.zeros(len(rows.row_ptr) - 1)
        relu = self.activation == "relu"
        net_scores(
            slot_ptr, rows.row_ptr, rows.column, rows.value, self._sizes(rows), relu, np.ascontiguousarray(weights), out
        )
        return out

    def _sizes(self, rows: SparseRows) -> Ints:
        return np.array([rows.n_columns * rows.width, *self.hidden, 1], np.int64)
