"""Lists as columns of a matrix: one number per item and expert, larger is better."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.data.rankings import Rankings
from juryrank.errors import DataError
from juryrank.kernels.positional import scaling_exponents
from juryrank.kernels.ragged import children
from juryrank.learning.per_query import standardise

VALUES = {
    "score": "the scores of the lists, or share where they have none",
    "share": "the share of the query's items that are placed below",
    "normal": "normal scores: the quantile of the normal distribution at that share",
    "log": "minus the logarithm of the place",
}
LARGEST = 200_000_000  # numbers in a matrix: 1.6 GB


def list_columns(rankings: Rankings, experts: Sequence[str], values: str, missing: str) -> Floats:
    """[n_slots, n_experts], standardised in each query; 0 throughout where an expert has no list.

    An unranked item has the list's mean (``ignore``), the value of the last place (``last``), or that of the mean of
    the places below the list (``mean``). Scores have no places below: there both are the lowest score of the list.
    """
    r = rankings
    if r.n_slots * len(experts) > LARGEST:
        raise DataError(
            f"a matrix of {len(experts)} experts × {r.n_slots} items is too large; use fewer queries at a time"
        )
    value, absent = _values(r, "share" if values == "score" and r.entry_score is None else values, missing)
    column = r.positions_in(experts)[r.list_expert]
    used = np.flatnonzero((column >= 0) & (r.list_weight > 0))
    n_cells = r.n_slots * len(experts)
    # Every slot of the query gets the value of an unranked item; a ranked item then the difference to its own.
    lists, slots = np.repeat(used, r.query_size[r.list_query[used]]), children(r.slot_ptr, r.list_query[used])
    cell = slots.astype(np.int64) * len(experts) + column[lists]
    total = np.bincount(cell, r.list_weight[lists] * absent[lists], minlength=n_cells).astype(np.float64)
    weight = np.bincount(cell, r.list_weight[lists], minlength=n_cells)
    entries, lists = children(r.entry_ptr, used), np.repeat(used, r.list_size[used])
    cell = r.entry_slot[entries].astype(np.int64) * len(experts) + column[lists]
    total += np.bincount(cell, r.list_weight[lists] * (value[entries] - absent[lists]), minlength=n_cells)
    mean = np.divide(total, weight, out=np.zeros(n_cells), where=weight > 0).reshape(r.n_slots, len(experts))
    return standardise(r.slot_ptr, mean)


def _values(r: Rankings, values: str, missing: str) -> tuple[Floats, Floats]:
    """The value of each entry, and the value of unranked items of each list."""
    filled = r.list_size > 0
    start = r.entry_ptr[:-1][filled]
    absent = np.zeros(r.n_lists)
    if values == "score":
        value = _scores_in_range(r)
        absent[filled] = np.minimum.reduceat(value, start) if filled.any() else 0.0
    else:
        size = r.query_size[r.list_query].astype(np.float64)
        value = _value_of_place(r.entry_place, np.repeat(size, r.list_size), values)
        last = size if missing == "last" else 0.5 * (r.list_size + 1.0 + size)
        absent = _value_of_place(np.maximum(last, 1.0), np.maximum(size, 1.0), values)
    if missing == "ignore" and filled.any():
        absent[filled] = np.add.reduceat(value, start) / r.list_size[filled]
    return value, absent


def _scores_in_range(r: Rankings) -> Floats:
    """The scores of the entries, scaled where an expert's are too large or too small for sums and squares.

    Columns are standardised, so the scale of an expert's scores does not matter.
    """
    assert r.entry_score is not None
    owner = np.repeat(r.list_expert, r.list_size)
    largest = np.zeros(len(r.experts))
    np.maximum.at(largest, owner, np.abs(r.entry_score))
    power = scaling_exponents(largest)
    return np.ldexp(r.entry_score, power[owner]) if power.any() else r.entry_score


def _value_of_place(place: Floats, size: Floats, values: str) -> Floats:
    if values == "log":
        return -np.log(place)
    share: Floats = 1.0 - (place - 0.5) / size
    if values == "share":
        return share
    from scipy.special import ndtri

    quantile: Floats = ndtri(np.clip(share, 1e-12, 1.0 - 1e-12))
    return quantile
