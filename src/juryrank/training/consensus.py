"""What the experts say together."""

from collections.abc import Sequence

import numpy as np

from juryrank.data import Dataset
from juryrank.data.rankings import Floats
from juryrank.kernels.positional import add_points

CONSENSUS = 3  # columns


def consensus(data: Dataset, experts: Sequence[str]) -> Floats:
    """Three columns, means over all lists of the query, strangers' too: 60 / (60 + rank), Borda's share, who ranks it.

    Borda's share is that of the list's items placed below; an item that a list leaves out gets 0 from it.
    """
    r = data.rankings
    size = np.repeat(r.list_size, r.list_size)
    values = (
        60.0 / (60.0 + r.entry_rank),
        (size - r.entry_place) / np.maximum(size - 1, 1),
        np.ones(r.n_entries),
    )
    total = np.bincount(r.list_query, r.list_weight, minlength=len(r))
    by_slot = np.repeat(np.where(total > 0, total, 1.0), r.query_size)
    out = np.zeros((CONSENSUS, r.n_slots))
    for column, value in zip(out, values, strict=True):
        absent = np.zeros(r.n_lists)
        add_points(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, value, absent, r.list_weight, column)
        column /= by_slot
    return out.T
