"""Sums over the lists that rank each item, and the ranks of items that a list leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.kernels.positional import add_entries
from juryrank.methods.formula import QueryList


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
    worst = entry_rank[r.entry_ptr[1:] - 1]  # entries are in rank order
    beyond: Floats = rank_beyond(worst, r.list_size, r.query_size[r.list_query], missing)
    return beyond


def rank_beyond(worst: Any, size: Any, total: Any, missing: str) -> Any:
    """The same from the worst rank and the size of a list, and the number of items (numbers or arrays)."""
    worst = np.maximum(worst, size)
    return np.maximum(worst + 1.0, total) if missing == "last" else worst + (total - size + 1) / 2


def rank_of_others(listed: QueryList, ranks: Sequence[float], missing: str) -> float | None:
    """The same for one list whose items have these ranks; None under ``ignore``."""
    return None if missing == "ignore" else float(rank_beyond(max(ranks), listed.size, listed.n_items, missing))
