"""Lists become fixed-length features of items, one family per file.

Every family is a function ``(dataset, experts) -> Floats [n_slots, n_columns]``; ``experts`` are the names whose
columns are wanted, in that order (those of the training data), so that what was learned finds its expert again.
"""

from collections.abc import Callable, Sequence

from juryrank.data import Dataset
from juryrank.data.rankings import Floats
from juryrank.features.consensus import consensus
from juryrank.features.item import item
from juryrank.features.log_rank import log_rank
from juryrank.features.missing import missing
from juryrank.features.reciprocal_rank import reciprocal_rank
from juryrank.features.score import score
from juryrank.features.svd import svd
from juryrank.features.wins import wins

Family = Callable[[Dataset, Sequence[str]], Floats]

FEATURES: dict[str, Family] = {
    "consensus": consensus,
    "item": item,
    "log-rank": log_rank,
    "missing": missing,
    "reciprocal-rank": reciprocal_rank,
    "score": score,
    "svd": svd,
    "wins": wins,
}
