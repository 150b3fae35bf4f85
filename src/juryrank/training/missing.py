"""Missing flags."""

from collections.abc import Sequence

import numpy as np

from juryrank.data import Dataset
from juryrank.data.rankings import Floats
from juryrank.training.by_expert import by_expert


def missing(data: Dataset, experts: Sequence[str]) -> Floats:
    """One column per expert: 1 where it does not rank the item, 0 where it does."""
    return by_expert(data.rankings, experts, np.zeros(data.rankings.n_entries), absent=1.0)
