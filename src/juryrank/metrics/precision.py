"""Precision at k."""

from dataclasses import dataclass

from juryrank.data.arrays import Floats
from juryrank.metrics.base import RelevanceMetric, count_ranked_relevant, cutoff_param, rel_param
from juryrank.metrics.truth import ItemGrades, JudgedConsensus


@dataclass(frozen=True)
class Precision(RelevanceMetric):
    """Relevant items in the top k places, divided by k even if fewer than k items are ranked."""

    name = "P"
    needs_cutoff = True
    cutoff: int | None = cutoff_param()
    rel: int = rel_param()

    def _values(self, judged: JudgedConsensus, labels: ItemGrades) -> Floats:
        return count_ranked_relevant(judged, labels, self.rel, self.depth) / self.depth
