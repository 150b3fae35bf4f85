"""One column per expert from one value per entry."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juryrank.data import Rankings
from juryrank.data.rankings import Floats


def by_expert(rankings: Rankings, experts: Sequence[str], entry_value: Floats, absent: float = 0.0) -> Floats:
    """[n_slots, n_experts]: the value that each expert gives the item, ``absent`` where it does not rank it.

    Of several lists of one expert in a query, the mean, by the lists' weights. Lists of other experts are left out.
    """
    r = rankings
    column = np.repeat(r.places_in(experts)[r.list_expert], r.list_size)
    weight = np.repeat(r.list_weight, r.list_size)
    heard = (column >= 0) & (weight > 0)
    cell = r.entry_slot[heard].astype(np.int64) * len(experts) + column[heard]
    n_cells = r.n_slots * len(experts)
    total = np.bincount(cell, weight[heard] * entry_value[heard], minlength=n_cells)
    weights = np.bincount(cell, weight[heard], minlength=n_cells)
    out = np.full(n_cells, absent)
    np.divide(total, weights, out=out, where=weights > 0)
    return out.reshape(r.n_slots, len(experts))
