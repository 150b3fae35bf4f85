"""Average precision."""

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.kernels.gains import precision_sum
from juryrank.metrics.base import RelevanceMetric, binary_relevance, count_relevant, cutoff_param, ratio, rel_param
from juryrank.metrics.truth import ItemGrades, JudgedConsensus


@dataclass(frozen=True)
class AveragePrecision(RelevanceMetric):
    """Mean precision at the relevant items, with 0 for those that are not ranked; 0 without relevant items.

    With a cutoff, the sum ends there and is still divided by the number of all relevant items.
    """

    name = "AP"
    cutoff: int | None = cutoff_param()
    rel: int = rel_param()

    def _values(self, judged: JudgedConsensus, labels: ItemGrades) -> Floats:
        out = np.empty(len(judged.queries))
        precision_sum(judged.slot_ptr, binary_relevance(labels.value, self.rel), self.depth, out)
        return ratio(out, count_relevant(labels, self.rel))
