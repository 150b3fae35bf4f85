"""Logarithms of ranks."""

from collections.abc import Sequence

import numpy as np

from juryrank.data import Dataset
from juryrank.data.rankings import Floats
from juryrank.training.by_expert import by_expert


def log_rank(data: Dataset, experts: Sequence[str]) -> Floats:
    """One column per expert: minus the logarithm of the item's rank, so that more is better; 0 where it has none."""
    return by_expert(data.rankings, experts, -np.log(data.rankings.entry_rank))
