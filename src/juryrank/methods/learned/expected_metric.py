"""Learner for the expected metric of a conditional random field over orders."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.crf import expected_epoch
from juryrank.kernels.lambdarank import net_scores
from juryrank.kernels.ragged import sizes_to_ptr
from juryrank.learning.target import Target
from juryrank.methods.learned.sparse_rows import SparseRows

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

    def epoch(self, rows: SparseRows, target: Target, rng: np.random.Generator, weights: Floats) -> None:
        """One pass over the queries in random order, which updates ``weights``."""
        n = len(target.slot_ptr) - 1
        order, draws = rng.permutation(n), rng.random((n, 2 * self.sample))
        expected_epoch(
            order, draws, target.slot_ptr, rows.row_ptr, rows.column, rows.value, target.label, target.gain,
            target.kind, target.cutoff, target.discount, *all_steps(self.sample), float(self.rate), weights,
        )  # fmt: skip

    def scores(self, rows: SparseRows, slot_ptr: Ints, weights: Floats) -> Floats:
        """One score per slot: the order with the lowest energy has the highest first."""
        out = np.zeros(len(rows.row_ptr) - 1)
        sizes = np.array([rows.n_columns * rows.width, 1], np.int64)
        net_scores(
            slot_ptr, rows.row_ptr, rows.column, rows.value, sizes, False, np.ascontiguousarray(weights), out
        )  # fmt: skip
        return out


@cache
def all_steps(most: int) -> tuple[Floats, Ints, Ints, Ints]:
    """Orders of up to ``most`` items as steps that add an item to a set, for ``expected_loss``.

    The discounts of the places by the number of items; offsets of the steps by set, the sets after them, their items.
    """
    places, sizes = np.arange(most), np.arange(most + 1)[:, None]
    discounts = 1.0 / (np.log(places + 2.0) * np.maximum(sizes, 1) ** 2)
    steps = [(s | 1 << i, i) for s in range(1 << most) for i in range(most) if not s >> i & 1]
    after, item = np.array(steps, np.int64).T.copy()
    return discounts, sizes_to_ptr([most - s.bit_count() for s in range(1 << most)]), after, item
