"""Sparse features of slots: one row per entry of a list, and none for items that an expert did not rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Codes, Floats, Ints, freeze
from juryrank.kernels.ragged import children, parents, sizes_to_ptr
from juryrank.learning.expert_groups import ExpertGroups


@dataclass(frozen=True, eq=False)
class SparseRows:
    """The rows of each slot: the column of an expert group, and ``width`` values; rows of one column add up."""

    row_ptr: Ints  # [n_slots + 1]
    column: Codes  # [n_rows]
    value: Floats  # [n_rows, width]
    n_columns: int
    weight: Floats | None = None  # [n_rows] number of rows that each row represents; its values are sums over these

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def width(self) -> int:
        return int(self.value.shape[1])

    @property
    def n_rows(self) -> float:
        """The number of rows: the sum of their weights."""
        return float(len(self.value) if self.weight is None else self.weight.sum())

    @classmethod
    def of_entries(
        cls, rankings: Rankings, groups: ExpertGroups, value: Floats, *, weighted: bool = False
    ) -> SparseRows:
        """Rows from one vector per entry; NaN gives no row. ``weighted``: a row counts by the weight of its list."""
        column = np.repeat(groups.columns(rankings), rankings.list_size)
        known = np.flatnonzero(~np.isnan(value[:, 0]))
        order = known[np.argsort(rankings.entry_slot[known], kind="stable")]
        counts = np.bincount(rankings.entry_slot[order], minlength=rankings.n_slots)
        weight = None
        if weighted and not rankings.unit_weights:
            weight = np.repeat(rankings.list_weight, rankings.list_size)[order]
        return cls(sizes_to_ptr(counts), column[order].astype(np.int32), value[order], groups.n_columns, weight)

    def take(self, slots: Ints) -> SparseRows:
        """The rows of some slots, in that order."""
        rows = children(self.row_ptr, slots)
        sizes = np.diff(self.row_ptr)[slots]
        weight = None if self.weight is None else self.weight[rows]
        return SparseRows(sizes_to_ptr(sizes), self.column[rows], self.value[rows], self.n_columns, weight)

    def scale(self) -> Floats:
        """The root mean square of each of the ``width`` values; 1 where they are all 0."""
        if self.weight is not None:
            used = self.weight > 0
            square = (self.value[used] ** 2 / self.weight[used, None]).sum(axis=0) / (self.n_rows or 1.0)
        else:
            square = np.mean(self.value**2, axis=0) if len(self.value) else np.zeros(self.width)
        return np.where(square > 0, np.sqrt(square), 1.0)

    def divide(self, scale: Floats) -> SparseRows:
        """The same rows, each of the ``width`` values over its scale."""
        return SparseRows(self.row_ptr, self.column, self.value / scale, self.n_columns, self.weight)

    def dense(self) -> Floats:
        """[n_slots, n_columns, width]; 0 where there is no row."""
        out = np.zeros((len(self.row_ptr) - 1, self.n_columns, self.width))
        np.add.at(out, (parents(self.row_ptr), self.column), self.value)
        return out
