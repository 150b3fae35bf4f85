"""Sums over the lists that rank each item, and the ranks of items that a list leaves out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.kernels.positional import add_entries


def add_weighted(r: Rankings, points: Floats, weight: Floats, out: Floats) -> None:
    """Add the points of the entries, times the weights of their lists, to the slots; other items get nothing."""
    if (weight != 1.0).any():
        points = points * np.repeat(weight, r.list_size)
    add_entries(r.list_ptr, r.entry_ptr, r.entry_slot, points, out)


def listed_weight(r: Rankings, weight: Floats) -> Floats:
    """The total weight of the lists that rank each slot: their number, where a list of weight w is w lists."""
    if (weight == 1.0).all():
        return r.slot_lists.astype(np.float64)
    return sums_at(r.entry_slot, np.repeat(weight, r.list_size), r.n_slots)


def sums_at(at: NDArray[Any], values: Floats, n: int) -> Floats:
    """The sum of the values at each of 0 … n - 1."""
    total: Floats = np.bincount(at, values, minlength=n).astype(np.float64)
    return total


def query_weight(r: Rankings, weight: Floats) -> Floats:
    """The total weight of the lists of each slot's query, whether they rank it or not."""
    return np.repeat(sums_at(r.list_query, weight, len(r)), r.query_size)


def slot_weight(r: Rankings, weight: Floats, *, last: bool) -> Floats:
    """The total weight of the lists that rank each slot, or, if ``last``, of all lists of its query."""
    return query_weight(r, weight) if last else listed_weight(r, weight)


def absent_rank(r: Rankings, entry_rank: Floats, missing: str) -> Floats:
    """The rank that each list gives to the items it leaves out, under ``last`` or ``mean``."""
    size, total = r.list_size, r.query_size[r.list_query]
    worst = np.maximum(entry_rank[r.entry_ptr[1:] - 1], size)  # entries are in rank order
    if missing == "last":
        return np.maximum(worst + 1.0, total)
    return worst + (total - size + 1) / 2
