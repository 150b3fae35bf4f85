"""Learner for the expected metric of a conditional random field over orders."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.crf import expected_epoch
from juryrank.kernels.lambdarank import net_scores
from juryrank.training.columns.sparse_rows import SparseRows
from juryrank.training.target import Target

SPREAD = 0.01  # of the first weights


@dataclass(frozen=True, kw_only=True)
class ExpectedMetricLearner:
    """Linear weights; each pass samples ``sample`` items of a query and takes one step on all their orders."""

    sample: int = 6
    rate: float = 100.0

    @property
    def fan(self) -> int:
        """The number of units connected to each value of a row."""
        return 1

    def start(self, rows: SparseRows, rng: np.random.Generator) -> Floats:
        """Small normal weights."""
        return rng.normal(0.0, SPREAD, rows.n_columns * rows.width)

    def epoch(self, rows: SparseRows, target: Target, rng: np.random.Generator, weights: Floats) -> float:
        """One pass over the queries in random order, which updates ``weights``; returns the sum of their losses."""
        n = len(target.slot_ptr) - 1
        order, draws = rng.permutation(n), rng.random((n, 2 * self.sample))
        loss: float = expected_epoch(
            order, draws, target.slot_ptr, rows.row_ptr, rows.column, rows.value, target.label, target.gain,
            target.kind, target.cutoff, target.discount, all_orders(self.sample), float(self.rate), weights,
        )  # fmt: skip
        return loss

    def scores(self, rows: SparseRows, slot_ptr: Ints, weights: Floats) -> Floats:
        """One score per slot: the order with the lowest energy has the highest first."""
        out = np.zeros(len(rows.row_ptr) - 1)
        sizes = np.array([rows.n_columns * rows.width, 1], np.int64)
        net_scores(
            slot_ptr, rows.row_ptr, rows.column, rows.value, sizes, False, np.ascontiguousarray(weights), out
        )  # fmt: skip
        return out


@cache
def all_orders(n: int) -> Ints:
    """All orders of n items, in lexicographic order."""
    return np.array(list(permutations(range(n))), np.int64)
