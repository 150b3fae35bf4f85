"""Reciprocals of ranks."""

from collections.abc import Sequence

from juryrank.data import Dataset
from juryrank.data.rankings import Floats
from juryrank.training.by_expert import by_expert


def reciprocal_rank(data: Dataset, experts: Sequence[str], k: float = 60.0) -> Floats:
    """One column per expert: k / (k + rank) of the item; 0 where it has none."""
    return by_expert(data.rankings, experts, k / (k + data.rankings.entry_rank))
