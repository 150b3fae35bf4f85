"""Success at k."""

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.metrics.base import RelevanceMetric, count_ranked_relevant, cutoff_param, rel_param
from juryrank.metrics.truth import ItemGrades, JudgedConsensus


@dataclass(frozen=True)
class Success(RelevanceMetric):
    """1 if a relevant item is in the top k places, else 0: the hit rate, "hits at k"."""

    name = "Success"
    needs_cutoff = True
    cutoff: int | None = cutoff_param()
    rel: int = rel_param()

    def _values(self, judged: JudgedConsensus, labels: ItemGrades) -> Floats:
        return (count_ranked_relevant(judged, labels, self.rel, self.depth) > 0).astype(np.float64)
