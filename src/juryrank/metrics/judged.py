"""The share of judged items."""

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.metrics.base import RelevanceMetric, cutoff_param, discounted_sums
from juryrank.metrics.truth import ItemGrades, JudgedConsensus


@dataclass(frozen=True)
class Judged(RelevanceMetric):
    """The share of the first k items that are judged; labels below 0 are of items that are not judged.

    A list of fewer than k items is taken whole; a query in which nothing is ranked has no value. Where unjudged items
    are removed for other metrics, it is the share before the removal.
    """

    name = "Judged"
    cutoff: int | None = cutoff_param()

    def _values(self, judged: JudgedConsensus, labels: ItemGrades) -> Floats:
        whole = judged if judged.whole is None else judged.whole
        assert whole.labels is not None
        places = np.minimum(whole.size, self.depth)
        known = (whole.labels.value >= 0).astype(np.float64)  # False where there is no label
        counts = discounted_sums(whole.slot_ptr, known, np.ones(int(places.max(initial=0))))
        shares: Floats = np.divide(counts, places, out=np.full(len(counts), np.nan), where=places > 0)
        return shares
