"""Rows: sparse features of slots, one row per entry of a list; what an expert did not rank takes no room."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.rankings import Codes, Floats, Ints, freeze
from juryrank.features.panel import Panel
from juryrank.kernels.ragged import children, parents, sizes_to_ptr


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of each slot: a column of the panel, and ``width`` values; rows of one column add up."""

    row_ptr: Ints  # [n_slots + 1]
    column: Codes  # [n_rows]
    value: Floats  # [n_rows, width]
    n_columns: int

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def width(self) -> int:
        return int(self.value.shape[1])

    @classmethod
    def of_entries(cls, rankings: Rankings, panel: Panel, value: Floats) -> Rows:
        """Rows from one value (a vector) per entry; NaN gives no row."""
        column = np.repeat(panel.columns(rankings), rankings.list_size)
        kept = np.flatnonzero(~np.isnan(value[:, 0]))
        order = kept[np.argsort(rankings.entry_slot[kept], kind="stable")]
        counts = np.bincount(rankings.entry_slot[order], minlength=rankings.n_slots)
        return cls(sizes_to_ptr(counts), column[order].astype(np.int32), value[order], panel.n_columns)

    def take(self, slots: Ints) -> Rows:
        """The rows of some slots, in that order."""
        rows = children(self.row_ptr, slots)
        sizes = np.diff(self.row_ptr)[slots]
        return Rows(sizes_to_ptr(sizes), self.column[rows], self.value[rows], self.n_columns)

    def scale(self) -> Floats:
        """The root mean square of each of the ``width`` values; 1 where they are all 0."""
        square = np.mean(self.value**2, axis=0) if len(self.value) else np.zeros(self.width)
        return np.where(square > 0, np.sqrt(square), 1.0)

    def divided(self, scale: Floats) -> Rows:
        """The same rows, each of the ``width`` values over its scale."""
        return Rows(self.row_ptr, self.column, self.value / scale, self.n_columns)

    def dense(self) -> Floats:
        """[n_slots, n_columns, width]; 0 where there is no row."""
        out = np.zeros((len(self.row_ptr) - 1, self.n_columns, self.width))
        np.add.at(out, (parents(self.row_ptr), self.column), self.value)
        return out

    def of_names(self) -> Floats:
        """[n_slots, n_names × width]: the values of each expert with a name, one expert after the other."""
        named = self.dense()[:, :-1]
        return named.reshape(len(named), -1)
