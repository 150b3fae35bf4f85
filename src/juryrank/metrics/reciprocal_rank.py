"""Reciprocal rank."""

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.kernels.gains import reciprocal_first
from juryrank.metrics.base import RelevanceMetric, binary_relevance, cutoff_param, rel_param
from juryrank.metrics.truth import ItemGrades, JudgedConsensus


@dataclass(frozen=True)
class ReciprocalRank(RelevanceMetric):
    """1 / the place of the first relevant item; 0 if there is none up to the cutoff."""

    name = "RR"
    cutoff: int | None = cutoff_param()
    rel: int = rel_param()

    def _values(self, judged: JudgedConsensus, labels: ItemGrades) -> Floats:
        out = np.empty(len(judged.queries))
        reciprocal_first(judged.slot_ptr, binary_relevance(labels.value, self.rel), self.depth, out)
        return out
