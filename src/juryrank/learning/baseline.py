"""Reciprocal rank fusion with k = 60, the baseline of learned methods: its scores and its order."""

from __future__ import annotations

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.data.rankings import Rankings
from juryrank.kernels.gains import mean_places
from juryrank.kernels.positional import add_points

RRF_K = 60.0


def rrf_scores(rankings: Rankings) -> Floats:
    """The sum of 1 / (60 + rank) over the lists of each slot."""
    return sum_of_points(rankings, 1.0 / (RRF_K + rankings.entry_rank))


def rrf_places(rankings: Rankings) -> Floats:
    """The place of each slot in RRF's order of its query, 1 is best; tied slots share the mean of their places."""
    out = np.empty(rankings.n_slots)
    mean_places(rankings.slot_ptr, rrf_scores(rankings), out)
    return out


def sum_of_points(rankings: Rankings, entry_points: Floats) -> Floats:
    """The points of each slot's entries, times the weights of their lists."""
    r, out = rankings, np.zeros(rankings.n_slots)
    add_points(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, entry_points, np.zeros(r.n_lists), r.list_weight, out)
    return out
