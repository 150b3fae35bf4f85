"""The parameter ``flow``: the preference of a list between two items as a number.

It is +1 or -1 by order, or the difference of two values, one of each entry.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.errors import DataError
from juryrank.kernels.lists import Lists
from juryrank.kernels.positional import LARGE, scaling_exponents
from juryrank.params import param

FLOWS = {
    "order": "1 for the item ranked above, 0 for a tie",
    "difference": "the difference of ranks",
    "rank": "the difference of ranks, as a share of the largest in the list",
    "log-rank": "the difference of log ranks, as a share of the largest in the list",
    "score": "the difference of scores, or of ranks if lists have no scores",
}


def flow_param(default: str) -> Any:
    """The parameter ``flow``, with one meaning everywhere."""
    return param(default, "; ".join(f"{name}: {meaning}" for name, meaning in FLOWS.items()), choices=tuple(FLOWS))


def entry_values(flow: str, r: Rankings, lists: Lists) -> Floats:
    """The value of each entry, whose differences are the preferences; zeros if only the order counts.

    Items that a list leaves out, if they count as last, are one rank below it and have its lowest score.
    """
    entry_ptr, entry_rank, tail = (np.asarray(array) for array in (lists.entry_ptr, lists.entry_rank, lists.tail))
    size, ranked = np.diff(entry_ptr), np.isfinite(entry_rank)
    if flow == "order":
        return np.zeros(len(entry_rank))
    if flow == "score" and r.entry_score is not None:
        check_magnitude(r.entry_score, "flow='score'", "another flow")
        value = np.repeat(r.entry_score[r.entry_ptr[1:] - 1], size)
        value[ranked] = r.entry_score
        return value
    worst = entry_rank[entry_ptr[1:] - tail - 1] + (tail > 0)
    largest = np.repeat(worst, size)
    rank = np.where(ranked, entry_rank, largest)
    if flow in ("difference", "score"):
        return -rank
    if flow == "log-rank":
        rank, largest = np.log(rank), np.log(largest)
    share: Floats = np.divide(rank, largest, out=np.zeros(len(rank)), where=largest > 0)
    return -share


def check_magnitude(score: Floats, setting: str, otherwise: str) -> None:
    """Refuse scores whose squares overflow, or all underflow to 0."""
    largest = float(np.abs(score).max(initial=0.0))
    if scaling_exponents(largest):
        raise DataError(
            f"{setting} uses differences of scores without scaling, and their magnitude must be from "
            f"{1 / LARGE:g} to {LARGE:g}, but the largest is {largest:g}; scale the scores of all lists, or use "
            f"{otherwise}"
        )
