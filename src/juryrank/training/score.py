"""Normalised scores."""

from collections.abc import Sequence

import numpy as np

from juryrank.data import Dataset
from juryrank.data.rankings import Floats
from juryrank.errors import DataError
from juryrank.kernels.ragged import parents
from juryrank.kernels.scaling import into_range
from juryrank.training.by_expert import by_expert


def score(data: Dataset, experts: Sequence[str]) -> Floats:
    """One column per expert: the item's score between the lowest (0) and the highest (1) of its list; 0 where none.

    Where all scores of a list are equal they are 1.
    """
    r = data.rankings
    if r.entry_score is None:
        raise DataError("the lists carry ranks and no scores; use log-rank or reciprocal-rank features")
    of = parents(r.entry_ptr)
    low, high = np.full(r.n_lists, np.inf), np.full(r.n_lists, -np.inf)
    np.minimum.at(low, of, r.entry_score)
    np.maximum.at(high, of, r.entry_score)
    power = into_range(np.maximum(-low, high))
    low, high, given = np.ldexp(low, power), np.ldexp(high, power), np.ldexp(r.entry_score, power[of])
    width = (high - low)[of]
    value = np.divide(given - low[of], width, out=np.ones(r.n_entries), where=width > 0)
    return by_expert(r, experts, value)
