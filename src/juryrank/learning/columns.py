"""Columns of numbers per item: from the ranks in each expert's lists, over all lists, and from item features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juryrank.data import Dataset, Rankings
from juryrank.data.arrays import Floats
from juryrank.errors import DataError, warn_about_data
from juryrank.learning.baseline import sum_of_points
from juryrank.learning.per_query import standardise, sum_by_query

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


def feature_columns(name: str, data: Dataset, n_features: int | None = None) -> Floats:
    """Item features standardised in each query, [n_slots, n_features].

    An unknown value is replaced by the mean of its query, with a warning that counts them.
    """
    x, ptr = item_features(name, data, n_features), data.rankings.slot_ptr
    unknown = ~np.isfinite(x)
    if unknown.any():
        text = f"{name}: {int(unknown.sum())} unknown values of item features are replaced by the mean of their query"
        warn_about_data(text)
        known = sum_by_query(ptr, (~unknown).astype(np.float64))
        mean = sum_by_query(ptr, np.where(unknown, 0.0, x)) / np.maximum(known, 1.0)
        x = np.where(unknown, np.repeat(mean, data.rankings.query_size, axis=0), x)
    return standardise(ptr, x)


def item_features(name: str, data: Dataset, n_features: int | None = None) -> Floats:
    """The features of the data; a DataError where there are none, or not ``n_features``."""
    if data.features is None:
        raise DataError(f"{name} needs item features, and the data has none; read them with features=…")
    if n_features is not None and data.features.shape[1] != n_features:
        raise DataError(f"{name} was fitted on {n_features} item features, and the data has {data.features.shape[1]}")
    return data.features


def feature_names(name: str, data: Dataset) -> list[str]:
    """The names of the features; their numbers where they have none."""
    return list(data.feature_names) or [str(n + 1) for n in range(item_features(name, data).shape[1])]
