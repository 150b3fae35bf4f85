"""Columns from lists: one per expert, from the ranks in its lists, and columns over all lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.learning.baseline import sum_of_points

N_CONSENSUS = 3  # columns of ``consensus_columns``


def expert_columns(rankings: Rankings, experts: Sequence[str], entry_value: Floats, absent: float = 0.0) -> Floats:
    """[n_slots, n_experts]: the value that each expert gives the item, ``absent`` where it does not rank it.

    For several lists of one expert in a query it is their weighted mean. Lists of other experts are not used.
    """
    r = rankings
    column = np.repeat(r.positions_in(experts)[r.list_expert], r.list_size)
    weight = np.repeat(r.list_weight, r.list_size)
    used = (column >= 0) & (weight > 0)
    cell = r.entry_slot[used].astype(np.int64) * len(experts) + column[used]
    n_cells = r.n_slots * len(experts)
    total = np.bincount(cell, weight[used] * entry_value[used], minlength=n_cells)
    weights = np.bincount(cell, weight[used], minlength=n_cells)
    out = np.full(n_cells, absent)
    np.divide(total, weights, out=out, where=weights > 0)
    return out.reshape(r.n_slots, len(experts))


def log_rank_columns(rankings: Rankings, experts: Sequence[str]) -> Floats:
    """One column per expert: minus the logarithm of the item's rank, so that more is better; 0 where it has none."""
    return expert_columns(rankings, experts, -np.log(rankings.entry_rank))


def missing_columns(rankings: Rankings, experts: Sequence[str]) -> Floats:
    """One column per expert: 1 where it does not rank the item, 0 where it does."""
    return expert_columns(rankings, experts, np.zeros(rankings.n_entries), absent=1.0)


def consensus_columns(rankings: Rankings) -> Floats:
    """Means over all lists of the query: 60 / (60 + rank), Borda's share, and 1 where the list has the item.

    Borda's share is that of the list's items placed below; an item that a list leaves out gets 0 from it.
    """
    r = rankings
    size = np.repeat(r.list_size, r.list_size)
    values = (
        60.0 / (60.0 + r.entry_rank),
        (size - r.entry_place) / np.maximum(size - 1, 1),
        np.ones(r.n_entries),
    )
    total = np.bincount(r.list_query, r.list_weight, minlength=len(r))
    by_slot = np.repeat(np.where(total > 0, total, 1.0), r.query_size)
    return np.column_stack([sum_of_points(r, value) / by_slot for value in values])
