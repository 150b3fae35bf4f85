"""What a list says of a pair, as a number: +1 or -1 by order, or a difference of values."""

from __future__ import annotations

from typing import Any

import numpy as np

from juryrank.data import Rankings
from juryrank.data.rankings import Floats, read_only
from juryrank.errors import DataError
from juryrank.kernels.scaling import LARGE, into_range
from juryrank.methods.strengths._base import Lists
from juryrank.params import param

FLOWS = {
    "order": "1 where an item stands above, 0 for a tie",
    "difference": "the difference of ranks",
    "rank": "the difference of ranks, as a share of the largest in the list",
    "log-rank": "the difference of log ranks, as a share of the largest in the list",
    "score": "the difference of scores, or of ranks where lists have no scores",
}


def flow_param(default: str) -> Any:
    """The parameter ``flow``, with one meaning everywhere."""
    return param(default, "; ".join(f"{name}: {told}" for name, told in FLOWS.items()), choices=tuple(FLOWS))


def _check_size(score: Floats) -> None:
    """Refuse scores whose squares are not numbers, or all 0."""
    largest = float(np.abs(score).max(initial=0.0))
    if into_range(largest):
        raise DataError(
            f"flow='score' takes differences of scores as they are, and their size must be from {1 / LARGE:g} to "
            f"{LARGE:g}, but the largest is {largest:g}; scale the scores of all lists, or use another flow"
        )


def entry_values(flow: str, r: Rankings, lists: Lists) -> Floats:
    """Of each entry, the value whose differences its list states; zeros where only the order counts.

    Items that a list leaves out, where they count as last, stand one rank below it and have its lowest score.
    """
    _, _, entry_ptr, _, entry_rank, _, tail = lists
    size, ranked = np.diff(entry_ptr), np.isfinite(entry_rank)
    if flow == "order":
        return read_only(np.zeros(len(entry_rank)))
    if flow == "score" and r.entry_score is not None:
        _check_size(r.entry_score)
        value = np.repeat(r.entry_score[r.entry_ptr[1:] - 1], size)
        value[ranked] = r.entry_score
        return read_only(value)
    worst = entry_rank[entry_ptr[1:] - tail - 1] + (tail > 0)
    largest = np.repeat(worst, size)
    rank = np.where(ranked, entry_rank, largest)
    if flow in ("difference", "score"):
        return read_only(-rank)
    if flow == "log-rank":
        rank, largest = np.log(rank), np.log(largest)
    return read_only(-np.divide(rank, largest, out=np.zeros(len(rank)), where=largest > 0))
