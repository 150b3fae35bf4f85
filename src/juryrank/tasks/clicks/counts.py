"""Counts of impressions and clicks: one number for each pair of query and item, position, and clicks above it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.tasks.clicks.log import ClickLog

MOST_ABOVE = 5  # clicks above a position that are told apart; more count as this many


@dataclass(frozen=True, eq=False)
class ClickCounts:
    """Impressions and clicks by pair and cell: all that the estimates need to know about a log.

    A pair is a query and an item. A cell is a position and the number of clicks above it in the same session, which is
    0 where sessions are not known.
    """

    pair_query: Ints  # [n_pairs]
    pair_item: Ints  # [n_pairs]
    positions: Ints  # [n_positions] the positions of the log, ascending
    cell_position: Ints  # [n_cells] index into positions
    cell_above: Ints  # [n_cells]
    pair: Ints  # [n] ascending
    cell: Ints  # [n]
    shown: Floats  # [n]
    clicks: Floats  # [n]

    @classmethod
    def of(cls, log: ClickLog) -> ClickCounts:
        """The counts of a log."""
        positions, place = np.unique(log.position, return_inverse=True)
        cells, cell = np.unique(place * (MOST_ABOVE + 1) + clicks_above(log), return_inverse=True)
        n_items = max(len(log.items), 1)
        pairs, pair = np.unique(log.query * n_items + log.item, return_inverse=True)
        keys, row = np.unique(pair * max(len(cells), 1) + cell, return_inverse=True)
        return cls(
            pair_query=pairs // n_items,
            pair_item=pairs % n_items,
            positions=positions,
            cell_position=cells // (MOST_ABOVE + 1),
            cell_above=cells % (MOST_ABOVE + 1),
            pair=keys // max(len(cells), 1),
            cell=keys % max(len(cells), 1),
            shown=sums(row, np.ones(len(row)), len(keys)),
            clicks=sums(row, log.clicked.astype(np.float64), len(keys)),
        )

    @property
    def n_pairs(self) -> int:
        return len(self.pair_query)

    @cached_property
    def misses(self) -> Any:
        """Impressions without a click, a sparse matrix [n_pairs, n_cells]."""
        return self.matrix(self.shown - self.clicks, self.cell, len(self.cell_position))

    @cached_property
    def pair_clicks(self) -> Floats:
        """The clicks of each pair."""
        return sums(self.pair, self.clicks, self.n_pairs)

    def matrix(self, values: Floats, column: Ints, n_columns: int) -> Any:
        """Values by pair and column, sparse."""
        from scipy.sparse import csr_array

        return csr_array((values, (self.pair, column)), shape=(self.n_pairs, n_columns))

    def examinations(self, cell_examination: Floats) -> Floats:
        """How often each pair was examined, in expectation."""
        return sums(self.pair, self.shown * cell_examination[self.cell], self.n_pairs)

    def of_queries(self, chosen: Any) -> ClickCounts:
        """The counts of the queries for which ``chosen`` [n_queries] is true; pairs of others have none."""
        kept = chosen[self.pair_query[self.pair]]
        return ClickCounts(
            self.pair_query, self.pair_item, self.positions, self.cell_position, self.cell_above,
            self.pair[kept], self.cell[kept], self.shown[kept], self.clicks[kept],
        )  # fmt: skip


def clicks_above(log: ClickLog) -> Ints:
    """The clicks in the same session at smaller positions, at most ``MOST_ABOVE``; 0 where sessions are not known."""
    if log.session is None or not len(log):
        return np.zeros(len(log), np.int64)
    total: Ints = np.cumsum(log.clicked) - log.clicked  # rows are sorted by session and position
    first = np.r_[True, log.session[1:] != log.session[:-1]]
    new_position = first | np.r_[True, log.position[1:] != log.position[:-1]]
    at_start: Ints = total[first][np.cumsum(first) - 1]
    above: Ints = total[new_position][np.cumsum(new_position) - 1] - at_start  # at a shared position it is the same
    return np.minimum(above, MOST_ABOVE).astype(np.int64)


def sums(group: Ints, values: Floats, n: int) -> Floats:
    """The sum of the values of each group."""
    out: Floats = np.bincount(group, values, n).astype(np.float64)
    return out
